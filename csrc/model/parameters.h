// The parameters of a model by name, in one memory block; also used for gradients and optimizer moments.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/stream.h"
#include "core/tensor.h"
#include "model/tensor_block.h"
#include "model/tensor_specs.h"

namespace hone::model {

/// Bytes of a block of all parameters of this type.
int64_t parameter_bytes(const ModelConfig& config, DType dtype = DType::kF32);

/// The tensors of one layer. qkv is [in_width, C], gate_up is [gate_up_width(F), C]. Empty are: absent biases, q/k norms
/// and norms before or after a half; gate_up and down if the layer has experts and no shared MLP. In a layer
/// of gated DeltaNet qkv holds the matrices of q, k, v, z, b and a, `o` is the output's matrix, and delta has
/// the other tensors; in Mamba-2 qkv is in_proj, or q, k, v and in_proj, and o_beside is out_proj, where it is beside attention; in a short convolution qkv is the first matrix, `o` the last, and delta has only conv.
/// E experts have router [E, C], correction [E], experts_gate_up [E 2F, C], experts_down [E C, F] (with
/// ExpertsConfig::turned [E C, 2F] and [E F, C]), biases [E], [E, 2F] and [E, C], shared_gate [1, C]. scalar [1]:
/// ModelConfig::layer_scalars.
struct LayerViews {
  TensorView attn_norm, qkv, qkv_bias, q_norm, k_norm, sinks, o, o_bias, o_beside, attn_after, mlp_norm, gate_up, down, mlp_after, scalar;
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
