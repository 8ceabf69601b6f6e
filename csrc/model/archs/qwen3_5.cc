// Qwen3.5's dense text models: three layers of gated DeltaNet to one of attention, whose heads have an output gate. Rotary
// positions have three axes, which are the same number for text.
#include "model/archs/archs.h"

namespace hone::model::archs {
namespace {

/// Without layer_types every full_attention_interval-th layer attends.
void parse_kinds(ConfigFields& fields, ModelConfig& config) {
  const int64_t interval = fields.integer("full_attention_interval", 4);
  const std::vector<std::string> types = fields.texts("layer_types");
  config.linear_layers.clear();
  for (int64_t l = 0; l < config.layers && types.empty(); ++l) config.linear_layers.push_back(interval <= 0 || (l + 1) % interval != 0);
  for (const std::string& type : types) {
    config.linear_layers.push_back(type == "linear_attention");
    if (type == "linear_attention" || type == "full_attention") continue;
    fields.problem(Code::kUnsupported, fields.path("layer_types") + " has \"" + type + "\"; supported: linear_attention, full_attention.");
  }
}

}  // namespace

void parse_qwen3_5_text(ConfigFields& fields, ModelConfig& config) {
  config.vocabulary = 248320;
  config.width = 4096, config.mlp_width = 12288, config.layers = 32;
  config.heads = 16, config.kv_heads = 4, config.head_dim = 256;
  config.max_positions = 32768;
  config.norm_offset = 1.0f;
  config.qk_norm = true;
  config.gated_attention = true;
  config.rope.partial = fields.number("partial_rotary_factor", 0.25);
  parse_decoder(fields, config, true);
  parse_kinds(fields, config);
  config.delta = {.key_heads = fields.integer("linear_num_key_heads", 16),
                  .value_heads = fields.integer("linear_num_value_heads", 32),
                  .key_dim = fields.integer("linear_key_head_dim", 128),
                  .value_dim = fields.integer("linear_value_head_dim", 128),
                  .taps = fields.integer("linear_conv_kernel_dim", 4)};
  if (!fields.boolean("attn_output_gate", true)) {
    fields.problem(Code::kUnsupported, fields.path("attn_output_gate") + " is false; only attention with an output gate is supported.");
  }
  // Of layers that predict further tokens, which are not read, and of a mixture of experts, which this is not.
  fields.ignore({"mtp_num_hidden_layers", "mtp_use_dedicated_embeddings", "mlp_only_layers", "mamba_ssm_dtype"});
}

void write_qwen3_5_text(const ModelConfig& config, Json& json) {
  write_decoder(config, json);
  json.set("attention_bias", Json::boolean(false));
  json.set("attn_output_gate", Json::boolean(true));
  json.set("linear_num_key_heads", Json::integer(config.delta.key_heads));
  json.set("linear_num_value_heads", Json::integer(config.delta.value_heads));
  json.set("linear_key_head_dim", Json::integer(config.delta.key_dim));
  json.set("linear_value_head_dim", Json::integer(config.delta.value_dim));
  json.set("linear_conv_kernel_dim", Json::integer(config.delta.taps));
  Json types = Json::array();
  for (int64_t l = 0; l < config.layers; ++l) types.push(Json::string(config.is_linear(l) ? "linear_attention" : "full_attention"));
  json.set("layer_types", std::move(types));
}

}  // namespace hone::model::archs
