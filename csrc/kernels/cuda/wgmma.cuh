// Hopper's tensor cores: a group of four warps multiplies (wgmma, sm_90a only). The right operand is in
// shared memory, the left one in shared memory or registers. test/csrc/cuda_shim has a host version, in which
// sums are NaN until the wait.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace hone::kernels::cuda {

/// Tells the compiler that x is equal in all lanes of a warp; it then stays in a uniform register, as wgmma
/// requires of descriptors. All lanes take part.
__device__ __forceinline__ uint32_t same_in_warp(uint32_t x) { return __shfl_sync(0xffffffffu, x, 0); }

/// Orders register accesses before products. Call it before the first product, and after other code wrote the
/// sums.
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory"); }
/// Ends a group, which has the products started since the last commit.
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory"); }
/// Waits until at most the N newest groups run; sums may be read after wgmma_wait<0> and wgmma_settle.
template <int N>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(N) : "memory");
}

/// Keeps the compiler from moving reads of sums before the wait.
template <int N>
__device__ __forceinline__ void wgmma_settle(float (&sums)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}

// Operand lists of the instruction: register names in its text, and the variables they are bound to.
#define HONE_NAMES_8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define HONE_NAMES_32                                                                                        \
  HONE_NAMES_8 ", %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, "    \
               "%26, %27, %28, %29, %30, %31"
#define HONE_NAMES_64                                                                                        \
  HONE_NAMES_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, " \
                "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define HONE_NAMES_128                                                                                       \
  HONE_NAMES_64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, " \
                "%82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, "   \
                "%100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, "   \
                "%115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define HONE_SUMS_8_AT(d, i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define HONE_SUMS_32_AT(d, i) \
  HONE_SUMS_8_AT(d, i), HONE_SUMS_8_AT(d, i + 8), HONE_SUMS_8_AT(d, i + 16), HONE_SUMS_8_AT(d, i + 24)
#define HONE_SUMS_8(d) HONE_SUMS_8_AT(d, 0)
#define HONE_SUMS_32(d) HONE_SUMS_32_AT(d, 0)
#define HONE_SUMS_64(d) HONE_SUMS_32_AT(d, 0), HONE_SUMS_32_AT(d, 32)
#define HONE_SUMS_128(d) HONE_SUMS_64(d), HONE_SUMS_32_AT(d, 64), HONE_SUMS_32_AT(d, 96)

// The two forms of the instruction for COUNT sums per thread; A0 .. A6 are the numbers of the operands that
// follow the sums.
#define HONE_WGMMA(COUNT, COLUMNS, A0, A1, A2, A3, A4, A5, A6)                                                     \
  template <int kLinesA, int kLinesB>                                                                              \
  __device__ __forceinline__ void wgmma_bf16(float (&d)[COUNT], uint64_t a, uint64_t b, int add) {                 \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #A2 ", 0;\n"                                                 \
                 "wgmma.mma_async.sync.aligned.m64n" #COLUMNS "k16.f32.bf16.bf16 {" HONE_NAMES_##COUNT             \
                 "}, %" #A0 ", %" #A1 ", p, 1, 1, %" #A3 ", %" #A4 ";\n}\n"                                        \
                 : HONE_SUMS_##COUNT(d)                                                                            \
                 : "l"(a), "l"(b), "r"(add), "n"(kLinesA), "n"(kLinesB));                                          \
  }                                                                                                                \
  template <int kLinesB>                                                                                           \
  __device__ __forceinline__ void wgmma_bf16(float (&d)[COUNT], const uint32_t (&a)[4], uint64_t b, int add) {     \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #A5 ", 0;\n"                                                 \
                 "wgmma.mma_async.sync.aligned.m64n" #COLUMNS "k16.f32.bf16.bf16 {" HONE_NAMES_##COUNT             \
                 "}, {%" #A0 ", %" #A1 ", %" #A2 ", %" #A3 "}, %" #A4 ", p, 1, 1, %" #A6 ";\n}\n"                   \
                 : HONE_SUMS_##COUNT(d)                                                                            \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add), "n"(kLinesB));                    \
  }

/// sums (+)= a b^T over 16 k. b [columns, 16] by descriptor (matmul_plan.h), columns = 2 x number of sums; a
/// [64, 16] by descriptor, or in registers in the layout of mma_bf16_16816, row 16 warp + lane / 4 (these
/// must not change until the wait). `add` 0 starts from zero. kLinesA, kLinesB: 1 if the operand's lines, not
/// k, are contiguous. sums[4 j ...] are rows 16 warp + lane / 4 (and 8 below), columns 8 j + lane % 4 * 2.
/// All 128 threads take part.
HONE_WGMMA(8, 16, 8, 9, 10, 11, 12, 13, 14)
HONE_WGMMA(32, 64, 32, 33, 34, 35, 36, 37, 38)
HONE_WGMMA(64, 128, 64, 65, 66, 67, 68, 69, 70)
HONE_WGMMA(128, 256, 128, 129, 130, 131, 132, 133, 134)

#undef HONE_WGMMA
#undef HONE_SUMS_128
#undef HONE_SUMS_64
#undef HONE_SUMS_32
#undef HONE_SUMS_8
#undef HONE_SUMS_32_AT
#undef HONE_SUMS_8_AT
#undef HONE_NAMES_128
#undef HONE_NAMES_64
#undef HONE_NAMES_32
#undef HONE_NAMES_8

/// Change the number of registers per thread from here on. All warps of a group call them, and the block's
/// total must not exceed the multiprocessor's.
template <int N>
__device__ __forceinline__ void give_registers_back() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;\n" ::"n"(N));
}
template <int N>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;\n" ::"n"(N));
}

}  // namespace hone::kernels::cuda
