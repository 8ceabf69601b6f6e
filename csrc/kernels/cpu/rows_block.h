// Arguments of the row kernels: raw pointers, so that no inline code crosses instruction sets.
#pragma once

#include <cstdint>

#include "kernels/cpu/dispatch.h"

namespace hone::kernels::cpu {

/// Rows over which one f32 sum of the norm weights' gradients runs; these sums are then added in order in
/// f64.
inline constexpr int64_t kNormStrip = 64;

struct RmsNormRows {
  const float* x;
  int64_t x_stride;
  const float* weight;
  float* y;
  int64_t y_stride;
  int64_t rows, width;
  float eps, offset;
  bool centered;
};
struct RmsNormGradRows {
  const float* x;
  int64_t x_stride;
  const float* weight;
  const float* dy;
  int64_t dy_stride;
  float* dx;
  int64_t dx_stride;
  float* dweight;  // [width], sums over this strip of rows; overwritten
  int64_t rows, width;
  float eps, offset;
  bool centered, accumulate;
};
struct RopeRows {
  float* x;
  int64_t x_stride;
  const int32_t* positions;
  const float* table;
  int64_t table_stride;
  int64_t rows, heads, head_dim, rotary_dim;
  bool inverse, interleaved;
};

HONE_VARIANTS(void rms_norm_rows(const RmsNormRows&));
HONE_VARIANTS(void rms_norm_grad_rows(const RmsNormGradRows&));
HONE_VARIANTS(void rope_rows(const RopeRows&));
/// Rounds x[r * stride + i] to the nearest bf16, for r < rows, i < width.
HONE_VARIANTS(void round_bf16_rows(float* x, int64_t stride, int64_t rows, int64_t width));
/// y[i] = silu(gate[i]) up[i] over n elements; geglu_row has the tanh form of GELU in place of silu.
HONE_VARIANTS(void swiglu_row(const float* gate, const float* up, float* y, int64_t n));
HONE_VARIANTS(void geglu_row(const float* gate, const float* up, float* y, int64_t n));
HONE_VARIANTS(void swiglu_grad_row(const float* gate, const float* up, const float* dy, float* dgate, float* dup,
                                   float* y, int64_t n));
HONE_VARIANTS(void geglu_grad_row(const float* gate, const float* up, const float* dy, float* dgate, float* dup,
                                  float* y, int64_t n));
/// SwiGLU of n pairs (gate, up) with clamped inputs (SwigluArgs::limit), and its gradient.
HONE_VARIANTS(void limited_swiglu_row(const float* pairs, float limit, float* y, int64_t n));
HONE_VARIANTS(void limited_swiglu_grad_row(const float* pairs, float limit, const float* dy, float* dpairs, float* y, int64_t n));
/// y[i] = x[i] sigmoid(gate[i]) over n elements, and its gradient.
HONE_VARIANTS(void head_gate_row(const float* x, const float* gate, float* y, int64_t n));
HONE_VARIANTS(void head_gate_grad_row(const float* x, const float* gate, const float* dy, float* dx, float* dgate, int64_t n));
/// softmax_row: x[i] <- e^x[i] / sum over all n, n > 0. sigmoid_row: x[i] <- 1 / (1 + e^-x[i]).
HONE_VARIANTS(void softmax_row(float* x, int64_t n));
HONE_VARIANTS(void sigmoid_row(float* x, int64_t n));
/// The sum of a[i] b[i]: sixteen chains of fused multiply-adds, whose results are added in pairs.
HONE_VARIANTS(float dot_row(const float* a, const float* b, int64_t n));
/// y[i] = a x[i] + b y[i] over n elements; b = 0 does not read y.
HONE_VARIANTS(void axpby_row(const float* x, float a, float* y, float b, int64_t n));
/// dtable[ids[t]][0..columns) += dx[t][0..columns), t ascending.
HONE_VARIANTS(void scatter_add_rows(const int32_t* ids, const float* dx, int64_t dx_stride, int64_t rows,
                                    float* dtable, int64_t table_stride, int64_t columns));

}  // namespace hone::kernels::cpu
