// Arguments of the kernels of the convolution with SiLU: raw pointers, so that no inline code crosses
// instruction sets.
#pragma once

#include <cstdint>

#include "kernels/cpu/dispatch.h"

namespace hone::kernels::cpu {

/// Backward passes store a recurrent state, and begin an f32 sum over rows, once per this many rows of a
/// sequence.
inline constexpr int64_t kRecurrentChunk = 64;
/// Largest number of convolution taps. Equals kMostTaps of kernels/delta_rule.h; repeated here because files
/// for one instruction set may include no other header.
inline constexpr int64_t kConvTaps = 8;

/// The convolution of one row with n channels: x[j] are the inputs of tap j (null: zeros), w the weights
/// [taps][w_stride], bias [n] or null.
struct ConvRow {
  const float* x[kConvTaps];
  const float* w;
  int64_t w_stride, taps, n;
  const float* bias = nullptr;
};

/// y = silu(bias + sum_j w_j x_j) if `gated`; otherwise the sum itself.
HONE_VARIANTS(void convolve_row(const ConvRow&, bool gated, float* y));
/// d *= derivative of silu at bias + sum_j w_j x_j.
HONE_VARIANTS(void convolve_slope_row(const ConvRow&, float* d));
/// Adds to dw[j][i] the sum over a run's rows of d[r][i] x[r - shift_j][i], i < n <= 16: f32 sums over 64
/// rows each, added in f64.
HONE_VARIANTS(void convolve_weight_strip(const float* d, int64_t d_stride, const float* x, int64_t x_stride, int64_t rows, int64_t taps,
                                         int n, double* dw));

}  // namespace hone::kernels::cpu
