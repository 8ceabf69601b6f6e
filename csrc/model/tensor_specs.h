// The names and shapes of a model's tensors, as its files have them.
#pragma once

#include <string>
#include <vector>

#include "model/tensor_block.h"

namespace hone::model {

/// Names in files of a layer's MLP, and of its norms before and after each half (null: none). Source:
/// transformers, modeling_llama, _olmo2, _gemma2, _glm4, _granitemoehybrid, _lfm2, _falcon_h1, _nemotron_h.
struct LayerNames {
  const char *attn_before = nullptr, *attn_after = nullptr, *mlp_before = nullptr, *mlp_after = nullptr;
  const char *attention = "self_attn", *mamba = "mamba", *embedding = "embed_tokens";
  // gate_up: its name if files store gate and up as one tensor
  const char *mlp = "mlp", *gate_up = "gate_up_proj", *down = "down_proj";
  // names of the router and of the experts' parent, and of the correction within that parent; null: it is the router's
  const char *sparse = "mlp", *router = "gate", *correction = nullptr;
  const char *expert_gate = "gate_proj", *expert_up = "up_proj", *expert_down = "down_proj";
  const char* shared = "mlp.shared_experts";  // the shared MLP
  const char *gate = "gate_proj", *up = "up_proj", *q_norm = "q_norm", *k_norm = "k_norm", *attn_out = "o_proj", *final_norm = "norm";
};
LayerNames layer_names(const ModelConfig& config);
std::vector<TensorSpec> tensor_specs(const ModelConfig& config);

/// Whether a tensor is never trained: it has no gradient and no weight decay.
bool is_frozen(const TensorSpec& spec);
/// Whether weight decay applies to a tensor by default: to matrices, including experts and embeddings; not to
/// norms, biases, sinks or convolutions.
bool is_decayed(const TensorSpec& spec);
/// Whether a tensor is [E, outputs, inputs], one matrix of all experts.
bool is_joined(const TensorSpec& spec);

}  // namespace hone::model
