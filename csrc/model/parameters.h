// The parameters of a model by name, in one memory block; also used for gradients and optimizer moments.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/stream.h"
#include "core/tensor.h"
#include "model/tensor_block.h"

namespace hone::model {

/// Names in files of a layer's MLP, and of its norms before and after each half (null: none). Source:
/// transformers, modeling_llama, _olmo2, _gemma2, _glm4, _granitemoehybrid, _lfm2.
struct LayerNames {
  const char *attn_before = nullptr, *attn_after = nullptr, *mlp_before = nullptr, *mlp_after = nullptr;
  // gate_up: its name if files store gate and up as one tensor
  const char *mlp = "mlp", *gate_up = "gate_up_proj", *down = "down_proj";
  const char *sparse = "mlp", *router = "gate";  // names of the router and of the experts' parent
  const char *expert_gate = "gate_proj", *expert_up = "up_proj", *expert_down = "down_proj";
  const char* shared = "mlp.shared_experts";  // the shared MLP
  const char *gate = "gate_proj", *up = "up_proj", *q_norm = "q_norm", *k_norm = "k_norm", *attn_out = "o_proj", *final_norm = "norm";
};
LayerNames layer_names(const ModelConfig& config);
std::vector<TensorSpec> tensor_specs(const ModelConfig& config);
/// Bytes of a block of all parameters of this type.
int64_t parameter_bytes(const ModelConfig& config, DType dtype = DType::kF32);

/// Whether a tensor is never trained: it has no gradient and no weight decay.
bool is_frozen(const TensorSpec& spec);
/// Whether weight decay applies to a tensor by default: to matrices, including experts and embeddings; not to
/// norms, biases, sinks or convolutions.
bool is_decayed(const TensorSpec& spec);

/// The tensors of one layer. qkv is [in_width, C], gate_up is [2F, C]. Empty are: absent biases, q/k norms
/// and norms before or after a half; gate_up and down if the layer has experts and no shared MLP. In a layer
/// of gated DeltaNet qkv holds the matrices of q, k, v, z, b and a, `o` is the output's matrix, and delta has
/// the other tensors; in Mamba-2 qkv is in_proj; in a short convolution qkv is the first matrix, `o` the last, and delta has only conv.
/// E experts have router [E, C], correction [E], experts_gate_up [E 2F, C], experts_down [E C, F] (with
/// ExpertsConfig::turned [E C, 2F] and [E F, C]), biases [E], [E, 2F] and [E, C], shared_gate [1, C]. scalar [1]:
/// ModelConfig::layer_scalars.
struct LayerViews {
  TensorView attn_norm, qkv, qkv_bias, q_norm, k_norm, sinks, o, o_bias, attn_after, mlp_norm, gate_up, down, mlp_after, scalar;
  kernels::DeltaWeights delta;
  TensorView router, shared_gate, router_bias, correction, experts_gate_up, experts_gate_up_bias, experts_down, experts_down_bias;
  /// A copy in which move(view) replaces each view that is not empty.
  LayerViews moved(const std::function<TensorView(const TensorView&)>& move) const;
};

/// A TensorBlock of all parameters of a model, laid out by tensor_specs, with views by role.
class Parameters : public TensorBlock {
 public:
  /// Allocates in the memory of `stream` (by default the host's). The stream performs the copies and must
  /// outlive the object.
  explicit Parameters(const ModelConfig& config, const Stream& stream = {});

  /// Changes the dtype as TensorBlock::store_as does, and updates the views of layers.
  bool store_as(DType dtype);

  const LayerViews& layer(int64_t i) const;
  TensorView embedding() const;   // [V, C]
  TensorView final_norm() const;  // [C]
  TensorView head() const;        // [V, C]; the embedding when tied

  /// Random initial values: weights N(0, 1/sqrt(fan-in)), outputs to the residual stream (o, down) scaled by
  /// 1/sqrt(2L), embedding and head N(0, 0.02), norms 1 minus norm_offset, biases 0, decay rates (A_log) ln
  /// of U(0, 16]. Philox, keyed by seed and tensor index, draws them, so that they are the same on every
  /// machine.
  void initialize(uint64_t seed);

 private:
  void find_layers();
  std::vector<LayerViews> layers_;
};

}  // namespace hone::model
