// All parameters (or all gradients, or one optimizer moment) of a model in one block, by name.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/arena.h"
#include "core/stream.h"
#include "core/tensor.h"
#include "model/config.h"

namespace hone::model {

/// One named tensor in arena order. Names are the architecture's in Hugging Face files ("model.layers.0.self_attn.q_proj.weight").
/// q, k, v of a layer lie side by side, as do gate and up, so that each trio/pair is one matrix. Gaps of up to
/// 15 elements between the others keep them on cache lines; they stay zero.
struct TensorSpec {
  std::string name;
  std::vector<int64_t> shape;  // [R, C] or [C]
  int64_t offset = 0;          // in elements
  bool matrix = false;         // a 2-D block weight (Muon's kind): not embedding, head, norm or bias
  int64_t numel() const;
};
std::vector<TensorSpec> tensor_specs(const ModelConfig& config);
/// Bytes of a block with all of them.
int64_t parameter_bytes(const ModelConfig& config);

/// A layer's tensors. qkv is [(H+2K)D, C], gate_up is [2F, C]; biases, q/k norms and norms before or after a half are
/// empty if absent.
struct LayerViews {
  TensorView attn_norm, qkv, qkv_bias, q_norm, k_norm, o, attn_after, mlp_norm, gate_up, down, mlp_after;
};

/// Owns one f32 block laid out by tensor_specs, zeroed; on the CPU what is never written takes no memory. Movable, not copyable.
class Parameters {
 public:
  /// In the memory of `stream`, which does its copies and must outlive it; the host's unless one is given.
  explicit Parameters(const ModelConfig& config, const Stream& stream = {});

  const ModelConfig& config() const { return config_; }
  const std::vector<TensorSpec>& specs() const { return specs_; }
  TensorView view(const TensorSpec& spec) const;
  /// Throws kFormat naming the tensor if there is none of that name.
  TensorView view(const std::string& name) const;
  const LayerViews& layer(int64_t i) const;
  TensorView embedding() const;   // [V, C]
  TensorView final_norm() const;  // [C]
  TensorView head() const;        // [V, C]; the embedding when tied
  /// Everything as one vector [n], for norms and the optimizer.
  TensorView flat() const;
  void zero();

  /// Lets `fill` write one of the views above in host memory: the tensor itself, or a block without contents that is
  /// copied to the device when `fill` returns.
  void write(const TensorView& tensor, const std::function<void(const TensorView& host)>& fill);
  /// One of the views above in host memory: itself, or a copy that takes staging_bytes(tensor) from `staging`.
  TensorView read(const TensorView& tensor, Arena& staging) const;
  int64_t staging_bytes(const TensorView& tensor) const;

  /// Weights N(0, 1/sqrt(fan-in)), residual outputs (o, down) scaled by 1/sqrt(2L), embedding and head
  /// N(0, 0.02), norms 1 less their offset, biases 0; drawn from Philox keyed by seed and tensor index: the same everywhere.
  void initialize(uint64_t seed);

 private:
  void find_layers();

  ModelConfig config_;
  Stream stream_;
  std::vector<TensorSpec> specs_;
  Arena arena_;
  float* base_ = nullptr;
  std::vector<LayerViews> layers_;
};

}  // namespace hone::model
