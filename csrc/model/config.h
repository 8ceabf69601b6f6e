// ModelConfig: the sizes and switches that define a decoder, independent of any file format.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"
#include "kernels/mamba.h"

namespace hone::model {

/// How rotary angles are scaled for long contexts. Table building: model/rope_table.h.
struct RopeConfig {
  enum class Kind { kDefault, kLinear, kLlama3, kYarn, kLongrope, kProportional } kind = Kind::kDefault;
  double theta = 10000.0;
  double factor = 1.0;
  double low_freq_factor = 1.0, high_freq_factor = 4.0;          // llama3
  // yarn, longrope; attention_factor 0: computed as in rope_table.h
  double beta_fast = 32.0, beta_slow = 1.0, attention_factor = 0;
  bool yarn_truncate = true;                                     // yarn: ramp bounds to whole dimensions
  int64_t original_max_positions = 0;
  // longrope: one divisor per frequency; which list applies never changes during a run
  std::vector<double> short_factor{}, long_factor{};
  int64_t extended_positions = 0;                     // longrope: context length with the long factors
  bool extended = false;                              // longrope: whether the long factors are used
  // ministral3: queries are scaled by a factor that grows with ln(position) beyond original_max_positions
  double query_beta = 0.0;
  double partial = 1.0;  // fraction of a head's dimensions, the first ones, that are rotated; proportional: of its pairs, spread as if all were
  bool interleaved = false;  // rotated pairs are neighbours (2i, 2i + 1) instead of (i, i + N/2)
};

/// A mixture of experts in place of a layer's MLP. How experts are chosen: kernels/experts.h.
struct ExpertsConfig {
  // E; how many experts a token is routed to; F of each expert. count 0: no experts
  int64_t count = 0, chosen = 0, width = 0;
  // F of the MLP that every token goes to, in addition to its experts; 0: none
  int64_t shared_width = 0;
  bool shared_gate = false;                  // the shared MLP's output is multiplied by sigmoid(gate . x)
  bool sigmoid = false, normalized = false;
  // each expert has a bias that is added to its score when experts are chosen; it is not trained
  bool correction = false;
  double scaling = 1.0, least_sum = 0.0;  // least_sum: added to the sum of the chosen scores that divides them
  int64_t groups = 1, chosen_groups = 1;
  std::vector<bool> layers;  // the layers that have experts; empty: all
  // files hold a layer's gate and up as one tensor [E, inputs, outputs], and down as another; joined: [E, outputs, inputs]
  bool turned = false, joined = false;
  bool biases = false;       // the router and the experts have biases
  // clamps gate and up, whose columns then alternate (SwigluArgs); 0: no clamp, and gate lies before up
  double limit = 0.0;
};

/// muP's factors of what enters and leaves the parts of a layer. Source: transformers, modeling_falcon_h1.
struct Multipliers {
  double attention_in = 1.0, key = 1.0, attention_out = 1.0;
  double linear_in = 1.0, linear_out = 1.0;
  std::array<double, 5> linear{1.0, 1.0, 1.0, 1.0, 1.0};  // of the columns z, x, B, C and dt that enter Mamba-2
  double gate = 1.0, down = 1.0;                          // of the MLP's gate, and of what leaves the MLP
  bool operator==(const Multipliers&) const = default;
};

/// Upper limit of the number of layers (dense models have about a hundred); it bounds the memory of tensor
/// names and shapes.
constexpr int64_t kMostLayers = int64_t(1) << 13;

/// Which parts each layer has.
struct LayerParts {
  // per layer, whether gated DeltaNet, Mamba-2 or a short convolution replaces attention; empty: in no layer
  std::vector<bool> linear_layers;
  // the linear_layers have attention as well, which reads the same norm of the layer's input; their sum is added to it
  bool beside = false;
  // per layer, whether an MLP or experts are all that it has, the others having no MLP; empty: every layer has both halves
  std::vector<bool> mlp_layers;

  bool is_hybrid() const { return !linear_layers.empty(); }
  bool is_linear(int64_t layer) const { return is_hybrid() && linear_layers[size_t(layer)]; }
  bool has_beside(int64_t layer) const { return beside && is_linear(layer); }
  /// Whether a layer has attention, alone or beside what linear_layers have.
  bool attends(int64_t layer) const { return beside || (mixes_tokens(layer) && !is_linear(layer)); }
  /// Whether a layer has attention, or what linear_layers have in its place.
  bool mixes_tokens(int64_t layer) const { return mlp_layers.empty() || !mlp_layers[size_t(layer)]; }
  /// Whether a layer has an MLP or experts.
  bool has_mlp(int64_t layer) const { return mlp_layers.empty() || mlp_layers[size_t(layer)]; }
};

/// A decoder's sizes and switches. L layers, C width, H query heads, K key/value heads, D head dim, F MLP
/// width, V vocabulary.
struct ModelConfig : LayerParts {
  std::string arch = "llama";  // name of a row in archs.cc
  int64_t vocabulary = 0, width = 0, layers = 0, heads = 0, kv_heads = 0, head_dim = 0, mlp_width = 0;
  int64_t max_positions = 2048;
  float norm_eps = 1e-5f;
  RopeConfig rope;
  bool tied_head = false, qkv_bias = false, o_bias = false;
  // each head has a learned score that takes part in the softmax as if a key with value 0 had it
  bool sinks = false;
  bool qk_norm = false;        // q and k each pass an RMS norm, over one head at a time
  bool qk_norm_whole = false;  // the q and k norms are over all heads at once
  bool qk_norm_last = false;   // the q and k norms are applied per head, after rotary embedding

  /// Where each half of a layer (attention, MLP) has its norm: on its input, on its output before that is
  /// added to the residual stream, or on both.
  enum class Norms { kBefore, kAfter, kAround } norms = Norms::kBefore;
  bool parallel = false;       // attention and MLP read one norm of the layer's input, and their sum is added to it
  float norm_offset = 0.0f;    // norms multiply by weight + offset
  bool norm_centered = false;  // norms of the residual stream subtract the mean first: LayerNorm without a bias
  bool value_norm = false;     // an RMS norm of v per head, without a weight
  bool layer_scalars = false;  // a number per layer, which is not trained, multiplies what leaves it
  bool gelu = false;           // the MLP's gate is GELU (tanh form), not SiLU
  bool squared_relu = false;   // MLPs and experts are down(relu(up x)^2), without a gate
  bool fused_qkv = false, fused_gate_up = false;  // files store q, k, v as one tensor; gate, up as one
  enum class Names { kLlama, kGlm4, kGraniteHybrid, kMixtral, kGptOss, kLfm2, kFalconH1, kNemotronH, kErnieMoe } names = Names::kLlama;  // of a layer's tensors in files
  float embedding_scale = 1.0f, residual_scale = 1.0f;  // residual: factor of what a half of a layer adds
  double logits_scaling = 1.0;        // logits are divided by it
  double query_scalar = 0.0;          // q.k is divided by the root of this; 0: by the root of D
  double attention_multiplier = 0.0;  // if not 0, q.k is multiplied by this instead
  float attention_softcap = 0.0f, logit_softcap = 0.0f;  // x -> cap tanh(x / cap); 0: none

  int32_t sliding_window = 0;         // in tokens; 0: no window
  std::vector<bool> sliding_layers;   // per layer, whether it has the window; empty: all layers have it
  // rope theta, without scaling, of layers with the window; 0: rope_theta applies to all layers
  double sliding_theta = 0.0;
  int64_t full_head_dim = 0, full_kv_heads = 0;  // of heads in layers without a window; 0: as in all layers
  bool full_keys_as_values = false;   // in layers without a window v is k as projected, and files have no v_proj
  std::vector<bool> rotated_layers;   // per layer, whether it has rotary embedding; empty: all layers have it
  ExpertsConfig experts;
  // layers that files have after the last one, for predicting several tokens ahead; not loaded
  int64_t further_layers = 0;

  kernels::DeltaSizes delta;          // sizes of the linear_layers
  kernels::StepRange steps;           // of Mamba-2's time steps
  // projections of the linear_layers group rows by key head (kernels::DeltaColumns)
  bool delta_by_head = false;
  // q_proj also outputs a gate per head element; the head's output is multiplied by sigmoid(gate)
  bool gated_attention = false;
  Multipliers multipliers;

  /// Whether a layer's heads differ from those that head_dim and kv_heads describe.
  bool has_full_heads(int64_t layer) const { return full_head_dim > 0 && !slides(layer); }
  bool keys_are_values(int64_t layer) const { return full_keys_as_values && !slides(layer); }
  int64_t head_dim_of(int64_t layer) const { return has_full_heads(layer) ? full_head_dim : head_dim; }
  int64_t kv_heads_of(int64_t layer) const { return has_full_heads(layer) ? full_kv_heads : kv_heads; }
  int64_t q_width(int64_t layer) const { return heads * head_dim_of(layer); }
  int64_t kv_width(int64_t layer) const { return kv_heads_of(layer) * head_dim_of(layer); }
  int64_t qkv_width(int64_t layer) const { return q_width(layer) + 2 * kv_width(layer); }
  /// Columns of q, k and, where it has a norm, v, which are kept as they were before norms.
  int64_t raw_width(int64_t layer) const { return q_width(layer) + (value_norm ? 2 : 1) * kv_width(layer); }
  int64_t q_width() const { return heads * head_dim; }
  int64_t kv_width() const { return kv_heads * head_dim; }
  int64_t qkv_width() const { return q_width() + 2 * kv_width(); }
  /// Width of the rotary table; sliding_rotary_dim: of the table of layers with a theta of their own.
  int64_t rotary_dim() const;
  int64_t sliding_rotary_dim() const { return full_head_dim > 0 ? head_dim : rotary_dim(); }
  /// 0, 1 or 2: layers of one kind have buffers of the same sizes.
  int kind(int64_t layer) const { return mixes_tokens(layer) ? is_linear(layer) || has_full_heads(layer) : 2; }
  bool has_kinds() const { return is_hybrid() || full_head_dim > 0; }
  /// Number of layers with attention, which have keys and values.
  int64_t attention_layers() const;
  /// f32 numbers in the recurrent states of one sequence, of all linear_layers.
  int64_t state_floats() const;
  /// How many earlier layers are in linear_layers if this one is, or else are not but mix tokens.
  int64_t index_in_kind(int64_t layer) const;
  /// Rows of a layer's first matrix: the outputs q, k, v and any others of the layer's kind.
  int64_t in_width(int64_t layer) const;
  /// Columns of q, k and v and what else a layer's kind has, whose gradients the backward holds: in_width, and v where v is k.
  int64_t made_width(int64_t layer) const { return in_width(layer) + (keys_are_values(layer) ? kv_width(layer) : 0); }
  /// Columns of in_width that activations keep: without the gates of gated attention.
  int64_t held_width(int64_t layer) const { return attends(layer) && !has_beside(layer) ? qkv_width(layer) : in_width(layer); }
  int64_t mixed_width(int64_t layer) const { return attends(layer) ? q_width(layer) : is_linear(layer) ? delta.values() : 0; }
  /// Columns that a layer with attention has beside mixed_width; 0: none.
  int64_t beside_width(int64_t layer) const { return has_beside(layer) ? delta.values() : 0; }
  int64_t q_norm_width(int64_t layer) const { return qk_norm_whole ? q_width() : head_dim_of(layer); }
  int64_t k_norm_width(int64_t layer) const { return qk_norm_whole ? kv_width() : head_dim_of(layer); }
  bool norms_before() const { return norms != Norms::kAfter; }
  /// Whether the MLP's input has a norm of its own.
  bool norms_mlp() const { return norms_before() && !parallel; }
  bool norms_after() const { return norms != Norms::kBefore; }
  /// Whether the output of attention and MLP is normed or scaled before it is added to the residual stream,
  /// so that the last matrix product cannot add it directly.
  bool adds_apart() const { return norms_after() || residual_scale != 1.0f; }
  bool slides(int64_t layer) const { return sliding_window > 0 && (sliding_layers.empty() || sliding_layers[size_t(layer)]); }
  bool rotates(int64_t layer) const { return rotated_layers.empty() || rotated_layers[size_t(layer)]; }
  /// Width of a layer's sliding window in tokens; 0: none.
  int32_t window(int64_t layer) const { return slides(layer) ? sliding_window : 0; }
  /// Whether a layer has experts.
  bool mixes(int64_t layer) const { return experts.count > 0 && (experts.layers.empty() || experts.layers[size_t(layer)]); }
  bool mixes() const { return experts.count > 0; }
  /// Whether some layers have experts and some do not.
  bool mixes_in_part() const;
  /// F of a layer's dense or shared MLP; 0: the layer has experts and no shared MLP, or no MLP at all.
  int64_t mlp_width_of(int64_t layer) const { return mixes(layer) ? experts.shared_width : has_mlp(layer) ? mlp_width : 0; }
  /// Rows of the first matrix of an MLP or an expert of width F: gate and up.
  int64_t gate_up_width(int64_t F) const { return squared_relu ? F : 2 * F; }
  /// F of the widest dense or shared MLP.
  int64_t widest_mlp() const;
  /// Throws kConfig naming every field with which no network can be built, its value and the rule it
  /// violates.
  void check() const;
};

/// Options of parse_hf_config, and what it reports besides the config.
struct ConfigReading {
  bool strict = false;                // in: throw for an unknown field
  std::vector<std::string> warnings;  // out: unknown fields, which are ignored as transformers ignores them
};

/// Reads a Hugging Face config.json (transformers 4 and 5 styles). Refuses fields that would change the
/// computed numbers and are not supported (known_fields.h), and mixtures of experts that no architecture has.
/// Throws one error with all problems: kUnsupported, kConfig or kFormat. Unknown fields are handled as
/// `reading` says; if it is null, they are ignored.
ModelConfig parse_hf_config(const Json& json, const char* where, ConfigReading* reading = nullptr);
/// Writes the config as config.json in transformers-5 style, which parse_hf_config reads back.
Json to_hf_config(const ModelConfig& config);

}  // namespace hone::model
