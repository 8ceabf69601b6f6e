// Rotary position embedding (half rotation, as Hugging Face), in place, from a table.
#pragma once

#include "core/stream.h"
#include "core/tensor.h"

namespace hone::kernels {

/// For each row and head, with h = D/2 and (c, s) = table[position]:
///   (x_i, x_{i+h}) <- (x_i c_i - x_{i+h} s_i,  x_{i+h} c_i + x_i s_i)
/// The inverse (and its gradient) is the same op with `inverse`. Scaling variants (yarn, llama3) live in
/// the table, which the model builds in f64. T rows, N heads, D head dim, P positions.
struct RopeArgs {
  TensorView x;          // [T, N, D] activation in/out, strided rows
  TensorView positions;  // [T]       i32 in; trusted to be in [0, P)
  TensorView table;      // [P, D]    f32 in; row p: cos of D/2 angles, then sin
  bool inverse = false;
};
void rope(const Stream& stream, const RopeArgs& args);

}  // namespace hone::kernels
