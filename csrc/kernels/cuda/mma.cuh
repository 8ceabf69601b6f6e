// The tensor core instructions of sm_80 and later (16 x 8 x 16 in bf16 with f32 sums), and 2^x in one
// instruction. g = lane / 4, t = lane % 4. test/csrc/cuda_shim has a host version.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace hone::kernels::cuda {

/// Four 8 x 8 matrices of 16-bit values: lane l passes the address of row l % 8 of matrix l / 8 (16 bytes, aligned,
/// shared memory); r[j] gets elements 2t, 2t + 1 of row g of matrix j. All lanes take part.
__device__ __forceinline__ void ldmatrix_x4(uint32_t (&r)[4], const void* shared_row) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(shared_row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(from)
               : "memory");
}

/// ldmatrix_x4 with each matrix transposed: r[j] gets elements g of rows 2t, 2t + 1 of matrix j.
__device__ __forceinline__ void ldmatrix_x4_trans(uint32_t (&r)[4], const void* shared_row) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(shared_row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(from)
               : "memory");
}

/// d += a b, a [16, 16], b [16, 8]. Pairs of bf16, the lower index in the lower half:
/// a[0] row g, columns 2t..; a[1] row g + 8; a[2], a[3] the same at columns 2t + 8..;
/// b[0] rows 2t.. of column g, b[1] rows 2t + 8..;  d[0..1] row g, columns 2t..; d[2..3] row g + 8.
__device__ __forceinline__ void mma_bf16_16816(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// exp2f(x) if that is a normal number, else 0 (for x < -126, including -inf). exp2f itself takes three more
/// instructions for results below 2^-126, which cannot affect a sum of weights of which one is 1.
__device__ __forceinline__ float exp2_normal(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(y) : "f"(x));
  return y;
}

}  // namespace hone::kernels::cuda
