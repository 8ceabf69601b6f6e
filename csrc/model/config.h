// What a decoder is made of: sizes and switches, independent of any file format.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"

namespace hone::model {

/// How rotary angles are scaled for long contexts. Table building: model/rope_table.h.
struct RopeConfig {
  enum class Kind { kDefault, kLinear, kLlama3, kYarn } kind = Kind::kDefault;
  double theta = 10000.0;
  double factor = 1.0;
  double low_freq_factor = 1.0, high_freq_factor = 4.0;          // llama3
  double beta_fast = 32.0, beta_slow = 1.0, attention_factor = 0;  // yarn; 0: 0.1 ln(factor) + 1
  bool yarn_truncate = true;                                     // yarn: ramp bounds to whole dimensions
  int64_t original_max_positions = 0;
};

/// L layers, C width, H query heads, K key/value heads, D head dim, F MLP width, V vocabulary.
struct ModelConfig {
  std::string arch = "llama";  // a row of archs.cc
  int64_t vocabulary = 0, width = 0, layers = 0, heads = 0, kv_heads = 0, head_dim = 0, mlp_width = 0;
  int64_t max_positions = 2048;
  float norm_eps = 1e-5f;
  RopeConfig rope;
  bool tied_head = false, qkv_bias = false, qk_norm = false;
  int32_t sliding_window = 0;  // 0: none

  int64_t q_width() const { return heads * head_dim; }
  int64_t kv_width() const { return kv_heads * head_dim; }
  int64_t qkv_width() const { return q_width() + 2 * kv_width(); }
  /// Throws kConfig naming the field, its value and the rule, for anything a network cannot be built from.
  void check() const;
};

/// From a Hugging Face config.json (transformers 4 and 5 styles). Unknown or unsupported fields that would
/// change the numbers are kUnsupported / kConfig errors that name them; nothing is ignored silently.
ModelConfig parse_hf_config(const Json& json, const char* where);
/// The inverse, transformers-5 style, for saved checkpoints.
Json to_hf_config(const ModelConfig& config);

}  // namespace hone::model
