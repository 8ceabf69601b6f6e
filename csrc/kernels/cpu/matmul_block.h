// Arguments of the matmul micro-kernels: raw pointers, so that no inline code crosses instruction sets.
#pragma once

#include <cstdint>

#include "kernels/cpu/dispatch.h"

namespace hone::kernels::cpu {

/// Number of output columns in one panel.
inline constexpr int64_t kPanel = 32;

/// y[0..rows, 0..columns) = (y +) x W^T (+ bias); `panels` starts at the block's first column of W^T.
struct LinearBlock {
  const float* x;
  int64_t x_stride;
  const void* panels;  // [ceil(columns/32)][k][32], f32 or bf16; for bf16 arithmetic see matmul_bf16_block.h
  bool bf16;
  float* y;
  int64_t y_stride;
  const float* bias;  // [columns] or null
  int64_t rows, columns, k;
  bool accumulate;
  float* scratch;  // kScratch floats, 64-byte aligned
  int64_t row_step = 0;  // > 0: `panels` are instead rows [k] of W^T, so many elements apart
};

/// Packs panels [first, last) of w [n, k], or of the transpose of w [k, n].
struct PackBlock {
  const float* w;
  int64_t w_stride;
  bool transpose;
  void* panels;  // panel 0 of the whole matrix
  bool bf16;
  int64_t n, k, first, last;
};

/// dw[0..n, 0..k) += dy^T x, summed over `rows` rows in ascending order.
struct GradWeightBlock {
  const float* dy;
  int64_t dy_stride;
  const float* x;
  int64_t x_stride;
  float* dw;
  int64_t dw_stride;
  int64_t rows, n, k;
  float* scratch;  // kScratch floats, 64-byte aligned
};

/// Rows, and columns of x and of dy, that grad_weight_block processes at a time: 400 KB of each, which fit in
/// the L2 cache together.
inline constexpr int64_t kGradRows = 192, kGradColumns = 512;
inline constexpr int64_t kScratch = kGradRows * (2 * kGradColumns + 16);

HONE_VARIANTS(void linear_block(const LinearBlock&));
HONE_VARIANTS(void pack_block(const PackBlock&));
HONE_VARIANTS(void grad_weight_block(const GradWeightBlock&));
/// out[j] += sum over rows of x[i, j], rows ascending.
HONE_VARIANTS(void add_columns(const float* x, int64_t x_stride, int64_t rows, int64_t columns, float* out));

}  // namespace hone::kernels::cpu
