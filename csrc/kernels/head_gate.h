// Attention's output gate: a projection gives a gate beside every query head; what the head attends to is multiplied by its
// sigmoid.
#pragma once

#include "core/stream.h"
#include "core/tensor.h"

namespace hone::kernels {

/// A row of H query heads, each followed by its gate, then of what else there is (k, v), in two matrices: q and the rest; the
/// gates.
struct GatedHeads {
  TensorView joined;  // [R, (2H)D + n] f32: q_0 | gate_0 | q_1 | .. | rest
  TensorView heads;   // [R, HD + n] f32:    q_0 | q_1 | .. | rest
  TensorView gates;   // [R, HD] f32
  int64_t head_dim = 0;
};
/// Writes heads and gates.
void split_gated_heads(const Stream& stream, const GatedHeads& args);
/// The way back: writes joined.
void join_gated_heads(const Stream& stream, const GatedHeads& args);

/// y = x sigmoid(gate).
struct HeadGateArgs {
  TensorView x, gate;  // [R, N] f32 in
  TensorView y;        // [R, N] f32 out
};
void head_gate(const Stream& stream, const HeadGateArgs& args);

/// dx = dy s, dgate = dy x s (1 - s), s = sigmoid(gate).
struct HeadGateGradArgs {
  TensorView x, gate, dy;  // [R, N] f32 in
  TensorView dx, dgate;    // [R, N] f32 out; dx may alias dy
};
void head_gate_grad(const Stream& stream, const HeadGateGradArgs& args);

}  // namespace hone::kernels
