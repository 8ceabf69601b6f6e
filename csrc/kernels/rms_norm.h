// RMSNorm over the last dimension, forward and backward. Also serves q/k norm (rows = tokens x heads).
#pragma once

#include "core/stream.h"
#include "core/tensor.h"

namespace hone::kernels {

/// y = x r weight, r = 1 / sqrt(mean(x^2) + eps). R rows of width C. Sum of squares: 16 lanes, fixed tree.
/// Row-wise: bits of a row do not depend on the others. y may alias x.
struct RmsNormArgs {
  TensorView x;       // [R, C] f32 in, strided rows
  TensorView weight;  // [C]    f32 in
  TensorView y;       // [R, C] f32 out, strided rows
  float eps = 1e-5f;
};
void rms_norm(const Stream& stream, const RmsNormArgs& args);

/// dx (+)= r (w dy) - x r^3 / C sum(w dy x);  dweight += sum over rows of dy x r.
/// dweight: f32 chains over fixed strips of 64 rows, strips added in order in f64: independent of threads.
/// Takes [R/64, C] f32 of memory for the call.
struct RmsNormGradArgs {
  TensorView x;        // [R, C] f32 in, strided rows (the forward's input; r is recomputed)
  TensorView weight;   // [C]    f32 in
  TensorView dy;       // [R, C] f32 in, strided rows
  TensorView dx;       // [R, C] f32 out, strided rows; added to when accumulate; may alias dy otherwise
  TensorView dweight;  // [C]    f32 accumulated
  float eps = 1e-5f;
  bool accumulate = false;
};
void rms_norm_grad(const Stream& stream, const RmsNormGradArgs& args);

}  // namespace hone::kernels
