// Arguments of the kernels of gated DeltaNet: raw pointers, so that no inline code crosses instruction sets.
#pragma once

#include <cstdint>

#include "kernels/cpu/silu_conv_block.h"

namespace hone::kernels::cpu {

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
  const int64_t chunks = (rows + kRecurrentChunk - 1) / kRecurrentChunk;
  return (chunks + kRecurrentChunk + 2) * key_dim * value_dim + kRecurrentChunk * 2 * (key_dim + value_dim) + 3 * value_dim;
}

HONE_VARIANTS(void delta_rows(const DeltaRows&));
HONE_VARIANTS(void delta_grad_rows(const DeltaGradRows&));
/// Overwrites d, the gradient of scale x / |x|, with the gradient of x.
HONE_VARIANTS(void unit_grad_rows(const float* x, float* d, int64_t stride, int64_t rows, int64_t width, float scale));

}  // namespace hone::kernels::cpu
