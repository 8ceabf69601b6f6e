// All parameters (or all gradients, or one optimizer moment) of a model in one block, by name.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/stream.h"
#include "core/tensor.h"
#include "model/tensor_block.h"

namespace hone::model {

/// What files call a layer's norms, before and after each half (null: none), and its MLP. Source: transformers,
/// modeling_llama, _olmo2, _gemma2, _glm4, _granitemoehybrid, _lfm2.
struct LayerNames {
  const char *attn_before = nullptr, *attn_after = nullptr, *mlp_before = nullptr, *mlp_after = nullptr;
  const char *mlp = "mlp", *gate_up = "gate_up_proj", *down = "down_proj";  // gate_up: where it is one tensor
  const char *sparse = "mlp", *router = "gate";  // router and experts, whose tensors are called:
  const char *expert_gate = "gate_proj", *expert_up = "up_proj", *expert_down = "down_proj";
  const char* shared = "mlp.shared_experts";  // the MLP beside experts
  const char *gate = "gate_proj", *up = "up_proj", *q_norm = "q_norm", *k_norm = "k_norm", *attn_out = "o_proj", *final_norm = "norm";
};
LayerNames layer_names(const ModelConfig& config);
std::vector<TensorSpec> tensor_specs(const ModelConfig& config);
/// Bytes of a block of all parameters.
int64_t parameter_bytes(const ModelConfig& config);

/// Whether a tensor is only read: no gradient reaches it, and nothing decays it.
bool is_frozen(const TensorSpec& spec);
/// Whether weight decay reaches it by default: matrices, experts' and embeddings too; not norms, biases, sinks or convolutions.
bool is_decayed(const TensorSpec& spec);

/// A layer's tensors. qkv is [in_width, C], gate_up is [2F, C]. Biases, q/k norms and norms before or after a
/// half are empty if absent, gate_up and down if a layer has experts and no MLP beside them. In a layer of
/// gated DeltaNet qkv has the matrices of q, k, v, z, b and a, o is that of the output, and delta has the
/// other tensors; in a short convolution qkv is the first matrix, o the last, and delta has conv alone. Of E
/// experts: router [E, C], correction [E], experts_gate_up [E 2F, C], experts_down [E C, F] (with
/// ExpertsConfig::turned [E C, 2F] and [E F, C]), biases [E], [E, 2F] and [E, C], shared_gate [1, C].
struct LayerViews {
  TensorView attn_norm, qkv, qkv_bias, q_norm, k_norm, sinks, o, o_bias, attn_after, mlp_norm, gate_up, down, mlp_after;
  kernels::DeltaWeights delta;
  TensorView router, shared_gate, router_bias, correction, experts_gate_up, experts_gate_up_bias, experts_down, experts_down_bias;
  /// These views with each one that is not empty replaced by move(view).
  LayerViews moved(const std::function<TensorView(const TensorView&)>& move) const;
};

/// A model's parameters by role: a block laid out by tensor_specs.
class Parameters : public TensorBlock {
 public:
  /// In the memory of `stream`, which does its copies and must outlive it; the host's unless one is given.
  explicit Parameters(const ModelConfig& config, const Stream& stream = {});

  /// TensorBlock::store_as; the views of layers follow the new memory.
  bool store_as(DType dtype);

  const LayerViews& layer(int64_t i) const;
  TensorView embedding() const;   // [V, C]
  TensorView final_norm() const;  // [C]
  TensorView head() const;        // [V, C]; the embedding when tied

  /// Weights N(0, 1/sqrt(fan-in)), residual outputs (o, down) scaled by 1/sqrt(2L), embedding and head
  /// N(0, 0.02), norms 1 less their offset, biases 0, decay rates (A_log) ln of U(0, 16]; drawn from Philox
  /// keyed by seed and tensor index, so that they are the same everywhere.
  void initialize(uint64_t seed);

 private:
  void find_layers();
  std::vector<LayerViews> layers_;
};

}  // namespace hone::model
