// What a decoder is made of: sizes and switches, independent of any file format.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"
#include "kernels/delta_rule.h"

namespace hone::model {

/// How rotary angles are scaled for long contexts. Table building: model/rope_table.h.
struct RopeConfig {
  enum class Kind { kDefault, kLinear, kLlama3, kYarn, kLongrope } kind = Kind::kDefault;
  double theta = 10000.0;
  double factor = 1.0;
  double low_freq_factor = 1.0, high_freq_factor = 4.0;          // llama3
  double beta_fast = 32.0, beta_slow = 1.0, attention_factor = 0;  // yarn, longrope; 0: their own rule, rope_table.h
  bool yarn_truncate = true;                                     // yarn: ramp bounds to whole dimensions
  int64_t original_max_positions = 0;
  std::vector<double> short_factor{}, long_factor{};  // longrope: a divisor per frequency, one list for the whole run
  int64_t extended_positions = 0;                     // longrope: context length with the long factors
  bool extended = false;                              // longrope: whether the long factors are used
  double query_beta = 0.0;  // ministral3: queries grow with ln(position) beyond the original positions
  double partial = 1.0;  // fraction of a head's dimensions, the first ones, that are rotated
  bool interleaved = false;  // pairs are neighbours (2i, 2i + 1), not halves (i, i + N/2)
};

/// A mixture of experts in place of a layer's MLP. How experts are chosen: kernels/experts.h.
struct ExpertsConfig {
  int64_t count = 0, chosen = 0, width = 0;  // E, how many of them a token goes to, F of each; count 0: none
  int64_t shared_width = 0;                  // F of the MLP beside them, which every token goes to; 0: none
  bool shared_gate = false;                  // the output of that MLP is multiplied by sigmoid(gate . x)
  bool sigmoid = false, normalized = false;
  bool correction = false;  // a number per expert is added to scores for the choice; it is not trained
  double scaling = 1.0;
  int64_t groups = 1, chosen_groups = 1;
  std::vector<bool> layers;  // the layers that have experts; empty: all
  bool turned = false;       // a layer's matrices are one tensor [E, inputs, outputs] of gate and up, and one of down
  bool biases = false;       // of the router and of experts
  double limit = 0.0;        // clamps gate and up, which then alternate (SwigluArgs); 0: gate before up
};

/// Most layers; dense models have about a hundred. Limits the memory of tensor names and shapes.
constexpr int64_t kMostLayers = int64_t(1) << 13;

/// L layers, C width, H query heads, K key/value heads, D head dim, F MLP width, V vocabulary.
struct ModelConfig {
  std::string arch = "llama";  // a row of archs.cc
  int64_t vocabulary = 0, width = 0, layers = 0, heads = 0, kv_heads = 0, head_dim = 0, mlp_width = 0;
  int64_t max_positions = 2048;
  float norm_eps = 1e-5f;
  RopeConfig rope;
  bool tied_head = false, qkv_bias = false, o_bias = false;
  bool sinks = false;          // a learned score per head beside those of keys; its value is 0
  bool qk_norm = false;        // an RMS norm of q and of k: per head,
  bool qk_norm_whole = false;  // or over all heads at once
  bool qk_norm_last = false;   // per head, after the rotation

  /// Where the two halves of a layer (attention, MLP) have their norms: on the input, on the output before it is added
  /// to the residual stream, or on both.
  enum class Norms { kBefore, kAfter, kAround } norms = Norms::kBefore;
  float norm_offset = 0.0f;    // norms multiply by weight + offset
  bool gelu = false;           // the MLP's gate is GELU (tanh form), not SiLU
  bool fused_qkv = false, fused_gate_up = false;  // files store q, k, v as one tensor; gate, up as one
  enum class Names { kLlama, kGlm4, kGraniteHybrid, kMixtral, kGptOss, kLfm2 } names = Names::kLlama;  // of a layer's tensors in files
  float embedding_scale = 1.0f, residual_scale = 1.0f;  // residual: factor of what a half of a layer adds
  double logits_scaling = 1.0;        // logits are divided by it
  double query_scalar = 0.0;          // q.k is divided by its root; 0: D
  double attention_multiplier = 0.0;  // q.k is multiplied by it instead; 0: none
  float attention_softcap = 0.0f, logit_softcap = 0.0f;  // x -> cap tanh(x / cap); 0: none

  int32_t sliding_window = 0;         // 0: none
  std::vector<bool> sliding_layers;   // the layers that have it; empty: all
  double sliding_theta = 0.0;         // rope theta of those layers, without scaling; 0: as the others
  std::vector<bool> rotated_layers;   // the layers with rotary embedding; empty: all
  ExpertsConfig experts;
  int64_t further_layers = 0;  // layers in files after the last one, which predict further tokens: left aside

  std::vector<bool> linear_layers;    // the layers with gated DeltaNet, or a short convolution, in place of attention; empty: none
  kernels::DeltaSizes delta;          // of those layers
  bool delta_by_head = false;         // their projections group rows by key head (kernels::DeltaColumns)
  bool gated_attention = false;       // q_proj also makes gates; sigmoid(gate) multiplies a head's output

  int64_t q_width() const { return heads * head_dim; }
  int64_t kv_width() const { return kv_heads * head_dim; }
  int64_t qkv_width() const { return q_width() + 2 * kv_width(); }
  int64_t rotary_dim() const;
  bool is_hybrid() const { return !linear_layers.empty(); }
  bool is_linear(int64_t layer) const { return is_hybrid() && linear_layers[size_t(layer)]; }
  /// Layers with keys and values.
  int64_t attention_layers() const;
  /// f32 numbers of a sequence's recurrent states in all other layers, one layer after another.
  int64_t state_floats() const { return (layers - attention_layers()) * delta.state_floats(); }
  /// How many layers of the same kind, with or without keys and values, come before.
  int64_t index_in_kind(int64_t layer) const;
  /// Rows of a layer's first matrix (q, k, v and what else its kind has), and columns of `o`.
  int64_t in_width(int64_t layer) const;
  int64_t mixed_width(int64_t layer) const { return is_linear(layer) ? delta.values() : q_width(); }
  int64_t q_norm_width() const { return qk_norm_whole ? q_width() : head_dim; }
  int64_t k_norm_width() const { return qk_norm_whole ? kv_width() : head_dim; }
  bool norms_before() const { return norms != Norms::kAfter; }
  bool norms_after() const { return norms != Norms::kBefore; }
  /// Whether the output of a half is normed or scaled before it is added, so that its last product cannot add it
  /// itself.
  bool adds_apart() const { return norms_after() || residual_scale != 1.0f; }
  bool slides(int64_t layer) const { return sliding_window > 0 && (sliding_layers.empty() || sliding_layers[size_t(layer)]); }
  bool rotates(int64_t layer) const { return rotated_layers.empty() || rotated_layers[size_t(layer)]; }
  /// Width of a layer's window; 0: none.
  int32_t window(int64_t layer) const { return slides(layer) ? sliding_window : 0; }
  /// Whether a layer has experts.
  bool mixes(int64_t layer) const { return experts.count > 0 && (experts.layers.empty() || experts.layers[size_t(layer)]); }
  bool mixes() const { return experts.count > 0; }
  /// Whether some layers have experts and some do not.
  bool mixes_in_part() const;
  /// F of a layer's MLP, beside experts where it has them; 0: it has none.
  int64_t mlp_width_of(int64_t layer) const { return mixes(layer) ? experts.shared_width : mlp_width; }
  /// F of the widest MLP.
  int64_t widest_mlp() const;
  /// Throws kConfig naming every field a network cannot be built from, its value and the rule.
  void check() const;
};

/// Options and further results of parse_hf_config.
struct ConfigReading {
  bool strict = false;                // in: an unknown field is refused
  std::vector<std::string> warnings;  // out: unknown fields, ignored as transformers ignores them
};

/// Reads a Hugging Face config.json (transformers 4 and 5 styles). Refuses fields whose values would change
/// the numbers and are not supported (known_fields.h), and mixtures of experts that no architecture has. One
/// error has all problems: kUnsupported, kConfig, kFormat. Unknown fields: see `reading`; null: ignored.
ModelConfig parse_hf_config(const Json& json, const char* where, ConfigReading* reading = nullptr);
/// The inverse, transformers-5 style, for saved checkpoints.
Json to_hf_config(const ModelConfig& config);

}  // namespace hone::model
