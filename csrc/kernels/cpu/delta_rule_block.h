// Arguments of the kernels of gated DeltaNet: raw pointers, so that no inline code crosses instruction sets.
#pragma once

#include <cstdint>

#include "kernels/cpu/dispatch.h"

namespace hone::kernels::cpu {

/// The backward stores the recurrent state once per this many rows of a sequence.
inline constexpr int64_t kDeltaChunk = 64;
/// Largest number of convolution taps. Equals kMostTaps of kernels/delta_rule.h; repeated here because files
/// for one instruction set may include no other header.
inline constexpr int64_t kConvTaps = 8;

/// The convolution of one row with n channels: x[j] are the inputs of tap j (null: zeros), w the weights
/// [taps][w_stride].
struct ConvRow {
  const float* x[kConvTaps];
  const float* w;
  int64_t w_stride, taps, n;
};

/// One value head over consecutive rows of one sequence. q, k, v: columns of the convolution's output.
struct DeltaRows {
  const float *q, *k, *v;
  int64_t stride;
  const float* z;
  int64_t z_stride;
  const float *decay, *beta;  // one number per row, gate_stride apart
  int64_t gate_stride;
  const float* norm;
  float* state;  // [Dk, Dv], overwritten
  float* y;
  int64_t y_stride, rows, key_dim, value_dim;
  float eps;
  float* scratch;  // delta_scratch floats
};

/// The backward of DeltaRows over a whole sequence, which starts with a zero state.
struct DeltaGradRows {
  DeltaRows of;  // the forward's arguments; state and y are not used
  const float* dy;
  int64_t dy_stride;
  float *dq, *dk, *dv;  // gradients of the normalized q and k, and of v; of.stride apart
  float* dz;
  float *ddecay, *dbeta;  // gradients of ln g and of beta; gate_stride apart
  float* dnorm;           // [Dv], overwritten
  bool adds;              // dq and dk are added to, not overwritten
};

inline constexpr int64_t delta_scratch(int64_t key_dim, int64_t value_dim) { return 2 * key_dim + value_dim; }
/// Floats of scratch of DeltaGradRows: the states at the beginning of chunks and at each row of one chunk,
/// and the gradient of one state; q, k, o and v - m of a chunk's rows; gradients of o, of the change and of
/// m.
inline constexpr int64_t delta_grad_scratch(int64_t rows, int64_t key_dim, int64_t value_dim) {
  const int64_t chunks = (rows + kDeltaChunk - 1) / kDeltaChunk;
  return (chunks + kDeltaChunk + 2) * key_dim * value_dim + kDeltaChunk * 2 * (key_dim + value_dim) + 3 * value_dim;
}

/// y = silu(sum_j w_j x_j) if `gated`; otherwise the sum itself.
HONE_VARIANTS(void convolve_row(const ConvRow&, bool gated, float* y));
/// d *= derivative of silu at sum_j w_j x_j.
HONE_VARIANTS(void convolve_slope_row(const ConvRow&, float* d));
/// Adds to dw[j][i] the sum over a run's rows of d[r][i] x[r - shift_j][i], i < n <= 16: f32 sums over 64
/// rows each, added in f64.
HONE_VARIANTS(void convolve_weight_strip(const float* d, int64_t d_stride, const float* x, int64_t x_stride, int64_t rows, int64_t taps,
                                         int n, double* dw));
HONE_VARIANTS(void delta_rows(const DeltaRows&));
HONE_VARIANTS(void delta_grad_rows(const DeltaGradRows&));
/// Overwrites d, the gradient of scale x / |x|, with the gradient of x.
HONE_VARIANTS(void unit_grad_rows(const float* x, float* d, int64_t stride, int64_t rows, int64_t width, float scale));

}  // namespace hone::kernels::cpu
