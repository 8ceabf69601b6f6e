// LoRA adapters: engine and trainer both use W' = W + s B A in place of each adapted matrix W.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/arena.h"
#include "core/json.h"
#include "core/stream.h"
#include "kernels/matmul.h"
#include "model/expert_adapters.h"
#include "model/tensor_block.h"

namespace hone::model {

/// Choice of LoRA adapters. Source: Hu et al., LoRA: Low-Rank Adaptation of Large Language Models, section
/// 4.1; names and scale as in PEFT.
struct AdapterConfig {
  int64_t rank = 0;  // r; 0: no adapters, and all weights are trained
  float alpha = 0.0f;
  std::vector<std::string> targets{};  // "q_proj", ..., "experts", or "all-linear" alone
  uint64_t seed = 0;                   // seed of A's random initial values
  bool on() const { return rank > 0; }
  float scale() const { return alpha / float(rank); }  // s
};

/// The four matrix products of a layer whose matrices adapters may change.
enum class Product : uint8_t { kQkv, kO, kGateUp, kDown };
inline constexpr int kProducts = 4;
/// The two matrix products of a layer's experts whose matrices adapters may change.
enum class ExpertProduct : uint8_t { kGateUp, kDown };
inline constexpr int kExpertProducts = 2;

/// Specs of all adapter tensors. Each target of each layer has
/// "model.layers.0.self_attn.q_proj.lora_A.weight" [r, K] and "...lora_B.weight" [N, r]. The E experts of a
/// layer have "model.layers.0.mlp.experts.base_layer.lora_A.weight" [E r, C] and "...lora_B.weight" [2F, E r]
/// for gate and up, and "model.layers.0.mlp.experts.lora_A.weight" [E r, F] and "...lora_B.weight" [C, E r]
/// for down, laid out as in ExpertAdapters. Throws kConfig for a rank or alpha that is not positive, and for
/// a target that the model does not have (the message lists the model's targets).
std::vector<TensorSpec> adapter_specs(const ModelConfig& model, const AdapterConfig& config);
/// Throws kUnsupported unless the rank is a multiple of 8, since GPU kernels need rows of a multiple of 16
/// bytes.
void check_adapters_for_gpu(const AdapterConfig& config);
/// The adapter_config.json that PEFT reads, without the base model's name.
Json adapter_json(const ModelConfig& model, const AdapterConfig& config);
/// Checks a PEFT folder's adapter_config.json. Throws kConfig naming a field that differs from `config`,
/// kUnsupported for variants of LoRA (DoRA, rank-stabilized, trained biases or modules, ranks by pattern,
/// chosen layers).
void check_adapter_json(const Json& json, const AdapterConfig& config, const char* where);
/// The name that PEFT's files give to a tensor of adapter_specs.
std::string peft_name(const std::string& name);

/// The adapters of a model. A [r, K] is initialised uniformly in +-1/sqrt(K), as in PEFT, and B [N, r] with
/// zeros, so that W' = W. Not thread-safe.
class Adapters {
 public:
  /// Allocates in the memory of `stream`. Throws the errors of adapter_specs.
  Adapters(const ModelConfig& model, const AdapterConfig& config, const Stream& stream);

  const AdapterConfig& config() const { return config_; }
  TensorBlock& block() { return block_; }
  const TensorBlock& block() const { return block_; }
  bool changes(int64_t layer, Product product) const { return !pieces(layer, product).empty(); }

  /// Packs A and B for add() and gradient(); must be called after A or B have changed.
  void pack(const Stream& stream);
  /// Adds s B A to the rows of each target in w [N, K] f32, the whole matrix of the product. Sums over r
  /// ascending, starting from w; on a GPU, B and A are rounded to bf16 first. Takes and releases
  /// adapter_form_bytes of scratch.
  void add(const Stream& stream, int64_t layer, Product product, const TensorView& w, Arena& scratch) const;
  /// Adds the gradients of a product's adapters: dB += s dy^T (x A^T), dA += s (dy B)^T x, for input x [T, K]
  /// and output gradient dy [T, N]. Each takes two products with r columns; dy^T x is never computed. grads:
  /// a block of adapter_specs. Takes and releases adapter_gradient_bytes of scratch.
  void gradient(const Stream& stream, int64_t layer, Product product, const TensorView& dy, const TensorView& x,
                TensorBlock& grads, Arena& scratch) const;

  /// Whether the layer's experts have adapters on this product; if not, add() and gradient() for experts do
  /// nothing.
  bool changes(int64_t layer, ExpertProduct product) const { return experts(layer, product) != nullptr; }
  void add(const Stream& stream, int64_t layer, ExpertProduct product, int64_t expert, const TensorView& w, Arena& scratch) const;
  void gradient(const Stream& stream, int64_t layer, ExpertProduct product, const ExpertPairs& pairs, TensorBlock& grads, Arena& scratch) const;

 private:
  struct Piece {
    int64_t first = 0;                // first row in the product's matrix
    size_t a = 0, b = 0;              // indices of the specs of A and B
    kernels::PackedMatrix packed_a, packed_at, packed_bt;  // packed A, transpose of A, transpose of B
  };
  struct OfExperts {
    size_t a = 0, b = 0;  // indices of the specs of A and B
    ExpertAdapters matrices;
  };
  const std::vector<Piece>& pieces(int64_t layer, Product product) const {
    return pieces_[size_t(layer * kProducts + int64_t(product))];
  }
  const OfExperts* experts(int64_t layer, ExpertProduct product) const {
    const std::optional<OfExperts>& found = experts_[size_t(layer * kExpertProducts + int64_t(product))];
    return found ? &*found : nullptr;
  }
  void draw();

  AdapterConfig config_;
  TensorBlock block_;
  std::vector<std::vector<Piece>> pieces_;  // indexed by layer and product
  std::vector<std::optional<OfExperts>> experts_;  // indexed by layer and product
  Arena packs_;
};

/// Bytes, in the stream's memory, of the packed matrices of an Adapters, of add()'s scratch and of
/// gradient()'s scratch.
int64_t adapter_pack_bytes(const Stream& stream, const ModelConfig& model, const AdapterConfig& config);
int64_t adapter_form_bytes(const Stream& stream, const ModelConfig& model, const AdapterConfig& config);
int64_t adapter_gradient_bytes(const Stream& stream, const ModelConfig& model, const AdapterConfig& config, int64_t tokens);

}  // namespace hone::model
