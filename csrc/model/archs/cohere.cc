// Cohere (Command R, Aya Expanse) and Cohere2 (Command R7B, Command A): attention and MLP side by side behind one LayerNorm
// without a bias. Cohere2 has a window on three of four layers and rotates only those.
#include <algorithm>

#include "model/archs/archs.h"

namespace hone::model::archs {
namespace {

/// What a file may say of parts that transformers always builds, or never.
void expect_cohere_parts(ConfigFields& fields, const ModelConfig& config) {
  fields.only("position_embedding_type", {"rope_gptj"});
  fields.only("order_of_interleaved_layers", {"local_attn_first"});
  for (const char* field : {"use_parallel_block", "use_gated_activation"}) fields.only(field, true);
  fields.only("use_embedding_sharing", config.tied_head);
  fields.only("layer_norm_bias", false);
  fields.ignore({"use_parallel_embedding", "layer_switch"});  // how a table is divided, and sliding_window_pattern by another name
}

/// Logits are multiplied by it.
double parse_logit_scale(ConfigFields& fields) {
  const double scale = fields.number("logit_scale", 0.0625);
  if (scale > 0.0) return scale;
  fields.problem(Code::kConfig, fields.path("logit_scale") + " is " + Json::number(scale).dump() + "; it must be above 0.");
  return 1.0;
}

/// Every n-th layer has no window.
int64_t parse_window_period(ConfigFields& fields) {
  const int64_t pattern = fields.integer("sliding_window_pattern", 4);
  if (pattern > 0) return pattern;
  fields.problem(Code::kConfig, fields.path("sliding_window_pattern") + " is " + std::to_string(pattern) + "; it must be above 0.");
  return 1;
}

void parse_cohere_decoder(ConfigFields& fields, ModelConfig& config) {
  config.vocabulary = 256000, config.width = 8192, config.mlp_width = 22528, config.layers = 40, config.heads = 64;
  config.max_positions = 8192;
  config.tied_head = config.parallel = config.norm_centered = config.rope.interleaved = true;
  parse_decoder(fields, config);
  config.norm_eps = float(fields.number("layer_norm_eps", 1e-5));
  config.logits_scaling = 1.0 / parse_logit_scale(fields);
  config.qkv_bias = config.o_bias = fields.boolean("attention_bias", false);
  expect_cohere_parts(fields, config);
}

}  // namespace

void parse_cohere(ConfigFields& fields, ModelConfig& config) {
  config.rope.theta = 5e5;
  parse_cohere_decoder(fields, config);
}

void write_cohere(const ModelConfig& config, Json& json) {
  write_decoder(config, json);
  json.set("layer_norm_eps", Json::number(config.norm_eps));
  json.set("logit_scale", Json::number(1.0 / config.logits_scaling));
  json.set("attention_bias", Json::boolean(config.qkv_bias));
}

void parse_cohere2(ConfigFields& fields, ModelConfig& config) {
  config.sliding_window = 4096;
  parse_cohere_decoder(fields, config);
  config.sliding_window = parse_window(fields, config);
  const int64_t pattern = parse_window_period(fields);
  const std::vector<std::string> types = fields.texts("layer_types");
  const bool slides = types.empty() ? pattern > 1 : std::find(types.begin(), types.end(), "sliding_attention") != types.end();
  if (slides && config.sliding_window == 0) {
    fields.problem(Code::kUnsupported, fields.path("sliding_window") + " is null or 0, but layers slide: none would have positions. Give the window.");
  }
  parse_layer_types(fields, config, [&](int64_t layer) { return (layer + 1) % pattern != 0; });
  for (int64_t l = 0; l < config.layers; ++l) config.rotated_layers.push_back(config.slides(l));
}

void write_cohere2(const ModelConfig& config, Json& json) {
  write_cohere(config, json);
  json.set("sliding_window", config.sliding_window ? Json::integer(config.sliding_window) : Json());
  write_layer_types(config, json);
}

}  // namespace hone::model::archs
