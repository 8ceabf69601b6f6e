// Hopper's tensor cores: a group of four warps multiplies operands that lie in shared memory (wgmma, sm_90a only).
// test/csrc/cuda_shim has a host version in which sums are NaN until the wait.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace hone::kernels::cuda {

/// Before the first product, and after other code wrote the sums: orders registers with what follows.
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory"); }
/// Ends a group: the products since the last one.
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory"); }
/// Waits until at most the N newest groups run; the sums may be read after N = 0 and wgmma_settle.
template <int N>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(N) : "memory");
}

/// Keeps the compiler from reading sums before the wait above it.
template <int N>
__device__ __forceinline__ void wgmma_settle(float (&sums)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}

#define HONE_SUMS_8(d, i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define HONE_SUMS_64(d, i)                                                                                        \
  HONE_SUMS_8(d, i), HONE_SUMS_8(d, i + 8), HONE_SUMS_8(d, i + 16), HONE_SUMS_8(d, i + 24), HONE_SUMS_8(d, i + 32), \
      HONE_SUMS_8(d, i + 40), HONE_SUMS_8(d, i + 48), HONE_SUMS_8(d, i + 56)

/// sums (+)= a b^T over 16 k: a [64, 16] and b [columns, 16] by descriptor (matmul_plan.h), columns = 2 x sums.
/// `add` 0 starts from zero. kLinesA, kLinesB: 1 where the operand's lines, not k, lie side by side.
/// sums[4 j ...]: rows 16 warp + lane / 4 (and 8 below), columns 8 j + lane % 4 * 2. All 128 threads take part.
template <int kLinesA, int kLinesB>
__device__ __forceinline__ void wgmma_bf16(float (&d)[64], uint64_t a, uint64_t b, int add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
      "}, %64, %65, p, 1, 1, %67, %68;\n}\n"
      : HONE_SUMS_64(d, 0)
      : "l"(a), "l"(b), "r"(add), "n"(kLinesA), "n"(kLinesB));
}

template <int kLinesA, int kLinesB>
__device__ __forceinline__ void wgmma_bf16(float (&d)[128], uint64_t a, uint64_t b, int add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
      "}, %128, %129, p, 1, 1, %131, %132;\n}\n"
      : HONE_SUMS_64(d, 0), HONE_SUMS_64(d, 64)
      : "l"(a), "l"(b), "r"(add), "n"(kLinesA), "n"(kLinesB));
}

#undef HONE_SUMS_64
#undef HONE_SUMS_8

/// Registers per thread from here on: all warps of a group of four call it, and the block's sum must fit.
template <int N>
__device__ __forceinline__ void give_registers_back() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;\n" ::"n"(N));
}
template <int N>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;\n" ::"n"(N));
}

}  // namespace hone::kernels::cuda
