// Rotary position embedding in place, from a table.
#pragma once

#include "core/stream.h"
#include "core/tensor.h"

namespace hone::kernels {

/// For each row and head, with h = N/2 and (c, s) = table[position], N the width of the table, at most D:
///   (x_i, x_{i+h}) <- (x_i c_i - x_{i+h} s_i,  x_{i+h} c_i + x_i s_i)
/// or, interleaved (Su et al. 2021; GLM, Ernie), the same for the pairs (x_{2i}, x_{2i+1}).
/// `inverse` rotates back, which is also the gradient. Scaling variants (yarn, llama3) only change the table,
/// which the model computes in f64. Dimensions from N on are unchanged. T rows, D head dim, P positions.
struct RopeArgs {
  TensorView x;          // [T, heads, D] activation in/out, strided rows
  TensorView positions;  // [T] i32 in; must be in [0, P) (not checked)
  TensorView table;      // [P, N]    f32 in; row p: cos of N/2 angles, then sin
  bool inverse = false;
  bool interleaved = false;
};
void rope(const Stream& stream, const RopeArgs& args);

}  // namespace hone::kernels
