// RMSNorm and LayerNorm without a bias, over the last dimension, forward and backward. Also serves q/k norm (rows =
// tokens x heads).
#pragma once

#include "core/arena.h"
#include "core/stream.h"
#include "core/tensor.h"

namespace hone::kernels {

/// y = x r (weight + offset), r = 1 / sqrt(mean(x^2) + eps). R rows of width C; or T rows of N heads, each normed
/// separately. centered: x stands for x - mean(x), which makes this LayerNorm. Sums over a row: a fixed tree. A row's
/// bits do not depend on other rows. y may alias x.
struct RmsNormArgs {
  TensorView x;       // [R, C] or [T, N, C] activation in, strided rows
  TensorView weight;  // [C] f32 in
  TensorView y;       // as x   activation out, strided rows
  float eps = 1e-5f;
  float offset = 0.0f;  // added to every weight: 1 where files store weight - 1
  bool centered = false;
};
void rms_norm(const Stream& stream, const RmsNormArgs& args);

/// dx (+)= r (w dy) - x r^3 / C sum(w dy x), w = weight + offset;  dweight += sum over rows of dy x r. centered: x as
/// above, and dx less its mean over the row.
/// dweight: f32 chains over fixed strips of rows (64 on the CPU, 32 on a GPU), strips added in f64, in order
/// on the CPU, by a fixed tree on a GPU: independent of threads. The CPU allocates [R/64, C] f32, a GPU
/// uses `scratch`.
struct RmsNormGradArgs {
  TensorView x;        // [R, C] or [T, N, C] activation in, strided rows (the forward's input; r is recomputed)
  TensorView weight;   // [C]    f32 in
  TensorView dy;       // as x   activation in, strided rows
  // shaped as x, activation out, strided rows; added to if `accumulate`, otherwise may alias dy
  TensorView dx;
  TensorView dweight;  // [C]    f32 accumulated
  float eps = 1e-5f;
  bool accumulate = false;
  Arena* scratch = nullptr;  // rms_norm_grad_scratch_bytes; may be null if that is 0
  float offset = 0.0f;
  bool centered = false;
};
void rms_norm_grad(const Stream& stream, const RmsNormGradArgs& args);
/// rows: R, or T N.
int64_t rms_norm_grad_scratch_bytes(const Stream& stream, int64_t rows, int64_t width);

}  // namespace hone::kernels
