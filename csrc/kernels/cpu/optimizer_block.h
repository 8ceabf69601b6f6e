// Arguments of the optimizer's inner loops.
#pragma once

#include <cstdint>

#include "kernels/cpu/dispatch.h"

namespace hone::kernels::cpu {

struct AdamWBlock {
  float *param, *m, *v;
  const float* grad;
  int64_t n;
  float grad_scale, decay, beta1, one_minus_beta1, beta2, one_minus_beta2, step_size, root_correction, eps;
};

/// Elements of one f64 partial sum of squares.
inline constexpr int64_t kStrip = 4096;

/// Sum of squares of n <= kStrip values: sixteen f64 lanes by index mod 16, lanes summed in order.
HONE_VARIANTS(double strip_squares(const float* x, int64_t n));
HONE_VARIANTS(void adamw_block(const AdamWBlock&));
/// y = a x + b y; y is not read if b is 0.
HONE_VARIANTS(void combine_block(float* y, const float* x, float a, float b, int64_t n));

}  // namespace hone::kernels::cpu
