// Low-rank adapters as a parametrization: W' = W + s B A replaces W, in engine and trainer alike.
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

/// Source: Hu et al., LoRA: Low-Rank Adaptation of Large Language Models, section 4.1; names and scale as in PEFT.
struct AdapterConfig {
  int64_t rank = 0;  // r; 0: no adapters, all weights are trained
  float alpha = 0.0f;
  std::vector<std::string> targets{};  // "q_proj", ..., "experts", or "all-linear" alone
  uint64_t seed = 0;                   // of A's random values
  bool on() const { return rank > 0; }
  float scale() const { return alpha / float(rank); }  // s
};

/// The four products of a layer whose matrices adapters may change.
enum class Product : uint8_t { kQkv, kO, kGateUp, kDown };
inline constexpr int kProducts = 4;
/// The two products of a layer's experts.
enum class ExpertProduct : uint8_t { kGateUp, kDown };
inline constexpr int kExpertProducts = 2;

/// Tensors "model.layers.0.self_attn.q_proj.lora_A.weight" [r, K] and "...lora_B.weight" [N, r] of every target of every layer; of
/// a layer's E experts "model.layers.0.mlp.experts.base_layer.lora_A.weight" [E r, C] and "...lora_B.weight" [2F, E r] of gate and
/// up, "model.layers.0.mlp.experts.lora_A.weight" [E r, F] and "...lora_B.weight" [C, E r] of down, as ExpertAdapters has them.
/// Throws kConfig for a rank or alpha that is not positive, and for a target that the model does not have, naming those it has.
std::vector<TensorSpec> adapter_specs(const ModelConfig& model, const AdapterConfig& config);
/// Throws kUnsupported unless rank is a multiple of 8 (rows of 16 bytes).
void check_adapters_for_gpu(const AdapterConfig& config);
/// adapter_config.json as PEFT reads it, without the base model's name.
Json adapter_json(const ModelConfig& model, const AdapterConfig& config);
/// Checks a PEFT folder's adapter_config.json. Throws kConfig naming a field that differs from `config`,
/// kUnsupported for other adapters than plain ones (DoRA, rank-stabilized, trained biases or modules, ranks
/// by pattern, chosen layers).
void check_adapter_json(const Json& json, const AdapterConfig& config, const char* where);
/// PEFT's name of a tensor in its file.
std::string peft_name(const std::string& name);

/// A [r, K] uniform in +-1/sqrt(K) as PEFT draws it, B [N, r] zero: W' = W. Not thread-safe.
class Adapters {
 public:
  /// In the memory of `stream`. Throws what adapter_specs throws.
  Adapters(const ModelConfig& model, const AdapterConfig& config, const Stream& stream);

  const AdapterConfig& config() const { return config_; }
  TensorBlock& block() { return block_; }
  const TensorBlock& block() const { return block_; }
  bool changes(int64_t layer, Product product) const { return !pieces(layer, product).empty(); }

  /// Call after A or B have changed, before add() and gradient().
  void pack(const Stream& stream);
  /// w [N, K] f32, the whole matrix of the product, += s B A in the rows of each target. The sum over r ascends,
  /// starting from w; on a GPU B and A are rounded to bf16. Takes and releases adapter_form_bytes of scratch.
  void add(const Stream& stream, int64_t layer, Product product, const TensorView& w, Arena& scratch) const;
  /// dB += s dy^T (x A^T), dA += s (dy B)^T x, of the adapters of a product with input x [T, K] and gradient dy [T, N]: two
  /// thin products each, never dy^T x. grads: a block of adapter_specs. Takes and releases adapter_gradient_bytes.
  void gradient(const Stream& stream, int64_t layer, Product product, const TensorView& dy, const TensorView& x,
                TensorBlock& grads, Arena& scratch) const;

  /// The same for a layer's experts; those without adapters are unchanged.
  bool changes(int64_t layer, ExpertProduct product) const { return experts(layer, product) != nullptr; }
  void add(const Stream& stream, int64_t layer, ExpertProduct product, int64_t expert, const TensorView& w, Arena& scratch) const;
  void gradient(const Stream& stream, int64_t layer, ExpertProduct product, const ExpertPairs& pairs, TensorBlock& grads, Arena& scratch) const;

 private:
  struct Piece {
    int64_t first = 0;                // row of the product's matrix
    size_t a = 0, b = 0;              // indices of the specs of A and B
    kernels::PackedMatrix packed_a, packed_at, packed_bt;  // of A, its transpose and that of B
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
  std::vector<std::vector<Piece>> pieces_;  // by layer and product
  std::vector<std::optional<OfExperts>> experts_;  // likewise
  Arena packs_;
};

/// Bytes of the packs of an Adapters, and of the scratch of add() and of gradient(), in the stream's memory.
int64_t adapter_pack_bytes(const Stream& stream, const ModelConfig& model, const AdapterConfig& config);
int64_t adapter_form_bytes(const Stream& stream, const ModelConfig& model, const AdapterConfig& config);
int64_t adapter_gradient_bytes(const Stream& stream, const ModelConfig& model, const AdapterConfig& config, int64_t tokens);

}  // namespace hone::model
