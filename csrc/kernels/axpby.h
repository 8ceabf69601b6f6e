// Adds a scaled matrix to another one: for models with scaled embeddings and residual branches.
#pragma once

#include "core/stream.h"
#include "core/tensor.h"

namespace hone::kernels {

/// y = a x + b y, elementwise. R rows of width C. With b = 0, y is not read. x and y may be the same matrix.
struct AxpbyArgs {
  TensorView x;  // [R, C] activation in, strided rows
  float a = 1.0f;
  TensorView y;  // [R, C] activation in/out, strided rows
  float b = 0.0f;
};
void axpby(const Stream& stream, const AxpbyArgs& args);

}  // namespace hone::kernels
