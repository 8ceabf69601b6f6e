// Gemma-4 without per-layer embeddings, shared keys or experts (31B): layers without a window have heads of another size,
// whose values are their keys as projected; every v is normed, and a number of its own multiplies what leaves a layer.
#include <cmath>

#include "model/archs/archs.h"

namespace hone::model::archs {
namespace {

void preset_gemma4(ModelConfig& config) {
  config.vocabulary = 262144, config.width = 2304, config.mlp_width = 9216, config.layers = 30;
  config.heads = 8, config.kv_heads = 4, config.head_dim = 256;
  config.max_positions = 131072;
  config.norms = ModelConfig::Norms::kAround;
  config.gelu = config.tied_head = config.qk_norm = config.value_norm = config.layer_scalars = true;
  config.attention_multiplier = 1.0;
  config.sliding_window = 512;
  config.rope.theta = 1e6, config.sliding_theta = 1e4;
}

/// Parts of the smaller models, and of the mixture.
void refuse_other_parts(ConfigFields& fields) {
  const int64_t width = fields.integer("hidden_size_per_layer_input", fields.present("hidden_size_per_layer_input") ? 0 : 256);
  if (width != 0) fields.problem(Code::kUnsupported, fields.path("hidden_size_per_layer_input") + " is " + std::to_string(width) + ": embeddings for each layer are not supported.");
  const int64_t shared = fields.integer("num_kv_shared_layers", 0);
  if (shared != 0) fields.problem(Code::kUnsupported, fields.path("num_kv_shared_layers") + " is " + std::to_string(shared) + ": layers that share keys and values are not supported.");
  fields.only("enable_moe_block", false);
  fields.only("use_bidirectional_attention", {"vision"});  // images attend so, not text
  fields.ignore({"use_double_wide_mlp", "vocab_size_per_layer_input", "num_experts", "top_k_experts", "moe_intermediate_size"});
}

struct HeadSizes {
  int64_t dim, kv_heads;
  bool operator==(const HeadSizes&) const = default;
};

/// The heads of one layer in per_layer_config, by which transformers 5 writes them.
HeadSizes parse_heads_of(ConfigFields& fields, const ModelConfig& config, int64_t layer) {
  const std::string name = std::to_string(layer);
  const Json* const own = fields.value("per_layer_config")->find(name);
  if (!own) return {config.head_dim, config.kv_heads};
  ConfigFields of(*own, fields.path("per_layer_config") + "." + name, fields.problems());
  return {of.integer("head_dim", config.head_dim), of.integer("num_key_value_heads", config.kv_heads)};
}

/// Without per_layer_config, of all layers without a window.
HeadSizes parse_full_heads(ConfigFields& fields, const ModelConfig& config) {
  const int64_t kv_heads = fields.integer("num_global_key_value_heads", config.kv_heads);
  HeadSizes full{fields.integer("global_head_dim", 512), config.full_keys_as_values ? kv_heads : config.kv_heads};
  if (!fields.value("per_layer_config") || config.layers < 1) return full;
  full = parse_heads_of(fields, config, config.layers - 1);
  for (int64_t l = 0; l < config.layers; ++l) {
    const HeadSizes wanted = config.slides(l) ? HeadSizes{config.head_dim, config.kv_heads} : full;
    if (parse_heads_of(fields, config, l) == wanted) continue;
    fields.problem(Code::kUnsupported, fields.path("per_layer_config") + ": layer " + std::to_string(l) + " has heads of a third size; supported is one for layers with a window, one for the others.");
    break;
  }
  if (!config.full_keys_as_values && full.kv_heads != config.kv_heads) {
    fields.problem(Code::kUnsupported, fields.path("per_layer_config") + ": layers without a window have " + std::to_string(full.kv_heads) + " heads of keys and values, the others " + std::to_string(config.kv_heads) + "; this is supported with attention_k_eq_v alone.");
  }
  return full;
}

}  // namespace

void parse_gemma4(ConfigFields& fields, ModelConfig& config) {
  preset_gemma4(config);
  if (!fields.value("rope_parameters")) config.rope.kind = RopeConfig::Kind::kProportional, config.rope.partial = 0.25;
  parse_decoder(fields, config);
  config.embedding_scale = float(std::sqrt(double(config.width)));
  config.sliding_window = parse_window(fields, config);
  config.logit_softcap = float(fields.number("final_logit_softcapping", 0.0));
  config.full_keys_as_values = fields.boolean("attention_k_eq_v", false);
  parse_layer_types(fields, config, [&](int64_t layer) { return (layer + 1) % 6 != 0 && layer + 1 < config.layers; });
  if (config.sliding_window == 0 || config.slides(config.layers - 1)) {
    fields.problem(Code::kUnsupported, fields.path("layer_types") + ": some layers must have a window (sliding_window above 0), and the last must have none.");
  }
  const HeadSizes full = parse_full_heads(fields, config);
  config.full_head_dim = full.dim, config.full_kv_heads = full.kv_heads;
  refuse_other_parts(fields);
}

void write_gemma4(const ModelConfig& config, Json& json) {
  write_decoder(config, json);
  json.set("sliding_window", Json::integer(config.sliding_window));
  json.set("final_logit_softcapping", config.logit_softcap != 0.0f ? Json::number(double(config.logit_softcap)) : Json());
  json.set("global_head_dim", Json::integer(config.full_head_dim));
  json.set("num_global_key_value_heads", Json::integer(config.full_kv_heads));
  json.set("attention_k_eq_v", Json::boolean(config.full_keys_as_values));
  json.set("attention_bias", Json::boolean(false));
  json.set("hidden_size_per_layer_input", Json::integer(0));
  json.set("num_kv_shared_layers", Json::integer(0));
  write_layer_types(config, json);
  write_rope_by_layer(config, json);
}

void parse_gemma4_whole(ConfigFields& fields, ModelConfig& config) {
  parse_llava(fields, config);
  fields.ignore({"audio_config", "vision_soft_tokens_per_image", "boa_token_id", "eoa_token_id", "eoa_token_index", "audio_token_id"});
}

}  // namespace hone::model::archs
