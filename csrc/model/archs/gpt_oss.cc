// gpt-oss: attention with sinks, a sliding window on every other layer, and experts with biases and clamped
// gates.
#include "model/archs/archs.h"

namespace hone::model::archs {
void parse_gpt_oss(ConfigFields& fields, ModelConfig& config) {
  ExpertsConfig& e = config.experts;
  config.vocabulary = 201088;
  config.width = config.mlp_width = 2880, config.layers = 36;
  config.heads = 64, config.kv_heads = 8, config.head_dim = 64;
  config.max_positions = 131072;
  config.norm_eps = 1e-5f;
  config.sliding_window = 128;
  config.names = ModelConfig::Names::kGptOss;
  config.sinks = true;
  config.rope.theta = 150000.0;
  const bool said = fields.value("rope_scaling") || fields.value("rope_parameters");
  if (!said) config.rope = {.kind = RopeConfig::Kind::kYarn, .theta = 150000.0, .factor = 32.0, .yarn_truncate = false, .original_max_positions = 4096};
  parse_decoder(fields, config);
  config.qkv_bias = config.o_bias = fields.boolean("attention_bias", true);
  config.sliding_window = parse_window(fields, config);
  parse_layer_types(fields, config, [](int64_t layer) { return layer % 2 == 0; });
  e.count = fields.integer("num_local_experts", 128);
  e.chosen = fields.integer("num_experts_per_tok", 4);
  if (e.count < 1) fields.problem(Code::kConfig, fields.path("num_local_experts") + " is " + std::to_string(e.count) + "; a mixture has at least one.");
  e.width = config.mlp_width;
  e.normalized = e.turned = e.biases = true;
  e.limit = 7.0;  // transformers has no field for this limit
  fields.only("swiglu_limit", 7.0);
  // Names that other programs use for fields that were read above, and coefficients of a loss.
  fields.ignore({"experts_per_token", "initial_context_length", "rope_scaling_factor", "rope_ntk_alpha", "rope_ntk_beta", "output_router_logits", "router_aux_loss_coef"});
}

void write_gpt_oss(const ModelConfig& config, Json& json) {
  write_decoder(config, json);
  json.set("attention_bias", Json::boolean(config.o_bias));
  json.set("sliding_window", config.sliding_window ? Json::integer(config.sliding_window) : Json());
  write_layer_types(config, json);
  json.set("num_local_experts", Json::integer(config.experts.count));
  json.set("num_experts_per_tok", Json::integer(config.experts.chosen));
  json.set("swiglu_limit", Json::parse("7.0", "number"));
}

}  // namespace hone::model::archs
