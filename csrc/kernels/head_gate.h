// Attention's output gate: a projection computes a gate for every query head, and the head's attention output
// is multiplied by the gate's sigmoid; and a gate per row. Matrices have the stream's activation dtype, the gates of rows are f32.
#pragma once

#include "core/stream.h"
#include "core/tensor.h"

namespace hone::kernels {

/// Two layouts of a row of H query heads, their gates and further columns (k, v). joined: each head is
/// followed by its gate. heads and gates: the gates are in a separate matrix.
struct GatedHeads {
  TensorView joined;  // [R, (2H)D + n]: q_0 | gate_0 | q_1 | .. | rest
  TensorView heads;   // [R, HD + n]:    q_0 | q_1 | .. | rest
  TensorView gates;   // [R, HD]
  int64_t head_dim = 0;
};
/// Reads joined, writes heads and gates.
void split_gated_heads(const Stream& stream, const GatedHeads& args);
/// Reads heads and gates, writes joined.
void join_gated_heads(const Stream& stream, const GatedHeads& args);

/// y = x sigmoid(gate).
struct HeadGateArgs {
  TensorView x, gate;  // [R, N] in
  TensorView y;        // [R, N] out
};
void head_gate(const Stream& stream, const HeadGateArgs& args);

/// dx = dy s, dgate = dy x s (1 - s), s = sigmoid(gate).
struct HeadGateGradArgs {
  TensorView x, gate, dy;  // [R, N] in
  TensorView dx, dgate;    // [R, N] out; dx may alias dy
};
void head_gate_grad(const Stream& stream, const HeadGateGradArgs& args);

/// x_r <- x_r sigmoid(gate_r), one gate per row.
struct RowGateArgs {
  TensorView gate;  // [R, 1] f32 in
  TensorView x;     // [R, N] in and out
};
void row_gate(const Stream& stream, const RowGateArgs& args);

/// Gradient of y = x s, s = sigmoid(gate), given s dy: dgate = (1 - s) (s dy . x). Also overwrites x with x
/// s.
struct RowGateGradArgs {
  TensorView gate;   // [R, 1] f32 in
  TensorView gated;  // [R, N] in: s dy
  TensorView x;      // [R, N] in and out
  TensorView dgate;  // [R, 1] f32 out; may alias gate
};
void row_gate_grad(const Stream& stream, const RowGateGradArgs& args);

}  // namespace hone::kernels
