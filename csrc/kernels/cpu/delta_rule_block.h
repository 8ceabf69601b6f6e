// Arguments of the kernels of gated DeltaNet: raw pointers, so that no inline code crosses instruction sets.
#pragma once

#include <cstdint>

#include "kernels/cpu/dispatch.h"

namespace hone::kernels::cpu {

/// Rows of a sequence between two states that the backward keeps.
inline constexpr int64_t kDeltaChunk = 64;
/// Longest convolution: kMostTaps of kernels/delta_rule.h, repeated so that the instruction-set files include no other header.
inline constexpr int64_t kConvTaps = 8;

/// One row of the convolution, n channels: x[j] are the inputs of tap j (null: zeros), w the weights [taps][w_stride].
struct ConvRow {
  const float* x[kConvTaps];
  const float* w;
  int64_t w_stride, taps, n;
};

/// One value head over neighbouring rows of one sequence. q, k, v: columns of the convolution's output.
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

/// The backward of DeltaRows over a whole sequence, whose state starts as zeros.
struct DeltaGradRows {
  DeltaRows of;  // without state and y
  const float* dy;
  int64_t dy_stride;
  float *dq, *dk, *dv;  // of the normed q and k, of.stride apart
  float* dz;
  float *ddecay, *dbeta;  // of ln g and of beta, gate_stride apart
  float* dnorm;           // [Dv], overwritten
  bool adds;              // to dq and dk
};

inline constexpr int64_t delta_scratch(int64_t key_dim, int64_t value_dim) { return 2 * key_dim + value_dim; }
/// Floats of states at the beginning of chunks and of a chunk's rows, and of the gradient of one state; of q,
/// k, o and v - m of a chunk's rows; of the gradients of o, of the change and of m.
inline constexpr int64_t delta_grad_scratch(int64_t rows, int64_t key_dim, int64_t value_dim) {
  const int64_t chunks = (rows + kDeltaChunk - 1) / kDeltaChunk;
  return (chunks + kDeltaChunk + 2) * key_dim * value_dim + kDeltaChunk * 2 * (key_dim + value_dim) + 3 * value_dim;
}

/// y = silu(sum_j w_j x_j), or the sum alone.
HONE_VARIANTS(void convolve_row(const ConvRow&, bool gated, float* y));
/// d *= derivative of silu at that sum.
HONE_VARIANTS(void convolve_slope_row(const ConvRow&, float* d));
/// dw[j][i] += d[r][i] x[r - shift_j][i] over a run's rows, i < n <= 16: chains over 64 rows, added in f64.
HONE_VARIANTS(void convolve_weight_strip(const float* d, int64_t d_stride, const float* x, int64_t x_stride, int64_t rows, int64_t taps,
                                         int n, double* dw));
HONE_VARIANTS(void delta_rows(const DeltaRows&));
HONE_VARIANTS(void delta_grad_rows(const DeltaGradRows&));
/// d <- the gradient of x, given that of scale x / |x|.
HONE_VARIANTS(void unit_grad_rows(const float* x, float* d, int64_t stride, int64_t rows, int64_t width, float scale));

}  // namespace hone::kernels::cpu
