// What stands between the two matrices of an MLP or of an expert: SwiGLU, GeGLU, or relu^2 without a gate.
#pragma once

#include "core/stream.h"
#include "core/tensor.h"
#include "model/config.h"

namespace hone::model {

/// gate_up [R, gate_up_width(F)] in, y [R, F] out. limit: kernels::SwigluArgs::limit.
void activate(const Stream& stream, const ModelConfig& config, const TensorView& gate_up, const TensorView& y, float limit = 0.0f);
/// Overwrites gate_up by its gradient, given dy [R, F]; y [R, F] gets what `activate` wrote, to the bit.
void activate_grad(const Stream& stream, const ModelConfig& config, const TensorView& gate_up, const TensorView& dy, const TensorView& y, float limit = 0.0f);

}  // namespace hone::model
