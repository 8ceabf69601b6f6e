// Host version of csrc/kernels/cuda/mma.cuh: the last lane of a warp to arrive computes for all lanes.
#pragma once

#include <cuda_bf16.h>

#include <cmath>

namespace hone::cuda_shim {

struct MatrixLoad {
  uint32_t* r;
  const void* row;
};

template <bool Transposed>
void load_matrices(void* const* lanes, unsigned) {
  for (int lane = 0; lane < 32; ++lane) {
    for (int j = 0; j < 4; ++j) {
      uint32_t pair = 0;
      for (int half = 0; half < 2; ++half) {
        const int across = lane % 4 * 2 + half, along = lane / 4;
        const int row = Transposed ? across : along, column = Transposed ? along : across;
        const auto* from = static_cast<const uint16_t*>(static_cast<MatrixLoad*>(lanes[8 * j + row])->row);
        pair |= uint32_t(from[column]) << (16 * half);
      }
      static_cast<MatrixLoad*>(lanes[lane])->r[j] = pair;
    }
  }
}

template <bool Transposed>
void ldmatrix(uint32_t (&r)[4], const void* row, const char* file, int line) {
  expect_shared(row, 16, "ldmatrix");
  MatrixLoad mine{r, row};
  warp_collective(0xffffffffu, load_matrices<Transposed>, &mine, "ldmatrix", file, line);
}

struct MatrixMultiply {
  float* d;
  const uint32_t *a, *b;
};

/// d += a b: products are exact in f64, and their sum with d is rounded once. A real tensor core truncates
/// instead: docs/explanation/numerics.md.
void multiply_16816(void* const* lanes, unsigned mask);

}  // namespace hone::cuda_shim

namespace hone::kernels::cuda {

inline void ldmatrix_x4(uint32_t (&r)[4], const void* row, const char* file = __builtin_FILE(),
                        int line = __builtin_LINE()) {
  cuda_shim::ldmatrix<false>(r, row, file, line);
}
inline void ldmatrix_x4_trans(uint32_t (&r)[4], const void* row, const char* file = __builtin_FILE(),
                              int line = __builtin_LINE()) {
  cuda_shim::ldmatrix<true>(r, row, file, line);
}
inline void mma_bf16_16816(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                           const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  cuda_shim::MatrixMultiply mine{d, a, b};
  cuda_shim::warp_collective(0xffffffffu, cuda_shim::multiply_16816, &mine, "mma", file, line);
}

inline float exp2_normal(float x) {
  const float y = exp2f(x);
  return y < 0x1p-126f ? 0.0f : y;
}

}  // namespace hone::kernels::cuda
