// SwiGLU, silu(gate) * up, forward and backward; and GeGLU, with the tanh form of GELU in place of silu.
#pragma once

#include "core/stream.h"
#include "core/tensor.h"
#include "kernels/matmul.h"

namespace hone::kernels {

/// y = gate / (1 + e^-gate) * up. R rows, F width; gate and up are the two halves of one matrix.
struct SwigluArgs {
  TensorView gate_up;  // [R, 2F] activation in: gate | up
  TensorView y;        // [R, F]  activation out
  bool gelu = false;   // gate / 2 (1 + tanh(sqrt(2 / pi) (gate + 0.044715 gate^3))) up
  /// > 0: y = (up + 1) gate sigmoid(1.702 gate), with gate clamped to at most the limit and up to within +-
  /// the limit; gate and up then alternate: gate_0 | up_0 | gate_1 | .. Source: transformers,
  /// modeling_gpt_oss.
  float limit = 0.0f;
};
void swiglu(const Stream& stream, const SwigluArgs& args);

/// Runs linear, which writes gate_up, then swiglu, with the same bits. On a Hopper GPU few rows take one
/// launch.
struct LinearSwigluArgs {
  TensorView x;              // [R, K] activation in, strided rows
  PackedMatrix w;            // of [2F, K]
  TensorView gate_up;        // [R, 2F] activation out
  TensorView y;              // [R, F] activation out
  bool gelu = false;         // SwigluArgs::gelu
  bool keep = true;          // false: the op may skip writing gate_up
  Arena* scratch = nullptr;  // LinearArgs::scratch
};
void linear_swiglu(const Stream& stream, const LinearSwigluArgs& args);

/// dgate = dy up s (1 + gate (1 - s)), dup = dy gate s, s = sigmoid(gate), recomputed from gate_up. If y is
/// given, it gets the forward's output, to the bit; the CPU computes both from the same exponentials.
struct SwigluGradArgs {
  TensorView gate_up;   // [R, 2F] activation in
  TensorView dy;        // [R, F]  activation in
  TensorView dgate_up;  // [R, 2F] activation out; may alias gate_up
  bool gelu = false;
  TensorView y{};       // [R, F]  activation out, or empty
  // SwigluArgs::limit; gate and up alternate in dgate_up too, and clamped values get no gradient
  float limit = 0.0f;
};
void swiglu_grad(const Stream& stream, const SwigluGradArgs& args);

}  // namespace hone::kernels
