#include "model/activation.h"

#include "kernels/squared_relu.h"
#include "kernels/swiglu.h"

namespace hone::model {

void activate(const Stream& stream, const ModelConfig& config, const TensorView& gate_up, const TensorView& y, float limit) {
  if (config.squared_relu) return kernels::squared_relu(stream, {.x = gate_up, .y = y});
  kernels::swiglu(stream, {.gate_up = gate_up, .y = y, .gelu = config.gelu, .limit = limit});
}

void activate_grad(const Stream& stream, const ModelConfig& config, const TensorView& gate_up, const TensorView& dy, const TensorView& y, float limit) {
  if (config.squared_relu) return kernels::squared_relu_grad(stream, {.x = gate_up, .dy = dy, .dx = gate_up, .y = y});
  kernels::swiglu_grad(stream, {.gate_up = gate_up, .dy = dy, .dgate_up = gate_up, .gelu = config.gelu, .y = y, .limit = limit});
}

}  // namespace hone::model
