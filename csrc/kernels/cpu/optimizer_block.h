// Arguments of the optimizer's inner loops.
#pragma once

#include <cstdint>

#include "kernels/cpu/dispatch.h"

namespace hone::kernels::cpu {

struct AdamWBlock {
  float *param, *m, *v;  // m, v: f32 moments
  // bf16 moments, used in place of m and v; seed, step and first determine their stochastic rounding
  uint16_t *rounded_m, *rounded_v;
  uint64_t seed;
  int64_t step, first;  // first: index of element 0 among all trained elements
  const float* grad;
  int64_t n;
  float grad_scale, decay, beta1, one_minus_beta1, beta2, one_minus_beta2, step_size, root_correction, eps;
};

/// Number of elements in one f64 partial sum of squares.
inline constexpr int64_t kStrip = 4096;

/// Sum of squares of n <= kStrip values: sixteen f64 lanes by index mod 16, then the lanes in order.
HONE_VARIANTS(double strip_squares(const float* x, int64_t n));
HONE_VARIANTS(void adamw_block(const AdamWBlock&));
HONE_VARIANTS(void adamw_rounded_block(const AdamWBlock&));
/// a [n, n]: copies elements below the diagonal to those above it, except within blocks of 16 on the
/// diagonal, which are already complete.
HONE_VARIANTS(void mirror_block(float* a, int64_t n));
/// y = a x + b y; y is not read if b is 0.
HONE_VARIANTS(void combine_block(float* y, const float* x, float a, float b, int64_t n));

}  // namespace hone::kernels::cpu
