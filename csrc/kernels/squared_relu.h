// The activation of MLPs without a gate: relu(x)^2, forward and backward. CPU only.
#pragma once

#include "core/stream.h"
#include "core/tensor.h"

namespace hone::kernels {

/// y = max(x, 0)^2, elementwise. R rows of width F.
struct SquaredReluArgs {
  TensorView x;  // [R, F] f32 in, strided rows
  TensorView y;  // [R, F] f32 out, strided rows
};
void squared_relu(const Stream& stream, const SquaredReluArgs& args);

/// dx = 2 max(x, 0) dy. If y is given, it gets the forward's output, to the bit.
struct SquaredReluGradArgs {
  TensorView x;    // [R, F] f32 in
  TensorView dy;   // [R, F] f32 in
  TensorView dx;   // [R, F] f32 out; may alias x
  TensorView y{};  // [R, F] f32 out, or empty
};
void squared_relu_grad(const Stream& stream, const SquaredReluGradArgs& args);

}  // namespace hone::kernels
