// Text models of Qwen3.5, dense and mixtures of experts, and Qwen3-Next: three layers of gated DeltaNet for
// each layer of attention, whose heads have an output gate. Rotary positions have three axes, which are equal
// for text.
#include "model/archs/archs.h"

namespace hone::model::archs {
namespace {

/// Reads which layers have attention: without layer_types every full_attention_interval-th layer.
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

/// Reads the fields that dense models and mixtures share. The caller has set the default sizes.
void parse_hybrid(ConfigFields& fields, ModelConfig& config) {
  if (config.vocabulary == 0) config.vocabulary = 248320;
  config.head_dim = 256;
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
  // Fields of layers that predict further tokens, which are not loaded, and fields without an effect here.
  fields.ignore({"mtp_num_hidden_layers", "mtp_use_dedicated_embeddings", "mlp_only_layers", "mamba_ssm_dtype"});
}

}  // namespace

void parse_qwen3_5_text(ConfigFields& fields, ModelConfig& config) {
  config.width = 4096, config.mlp_width = 12288, config.layers = 32;
  config.heads = 16, config.kv_heads = 4;
  parse_hybrid(fields, config);
}

void parse_qwen3_5_moe_text(ConfigFields& fields, ModelConfig& config) {
  ExpertsConfig& e = config.experts;
  config.width = 2048, config.layers = config.delta_by_head ? 48 : 40;
  config.heads = 16, config.kv_heads = 2;
  config.mlp_width = 5632;  // a placeholder, since no layer has such an MLP
  parse_hybrid(fields, config);
  e.count = fields.integer("num_experts", e.count ? e.count : 256);
  e.chosen = fields.integer("num_experts_per_tok", e.chosen ? e.chosen : 8);
  if (e.count < 1) fields.problem(Code::kConfig, fields.path("num_experts") + " is " + std::to_string(e.count) + "; a mixture has at least one.");
  e.width = fields.integer("moe_intermediate_size", 512);
  e.shared_width = fields.integer("shared_expert_intermediate_size", 512);
  e.normalized = e.shared_gate = true;
  if (e.shared_width < 1) fields.problem(Code::kConfig, fields.path("shared_expert_intermediate_size") + " is " + std::to_string(e.shared_width) + "; it must be at least 1.");
  fields.ignore({"output_router_logits", "router_aux_loss_coef", "norm_topk_prob", "decoder_sparse_step"});  // transformers reads none of the last two
}

/// Qwen3-Next: a mixture of experts whose DeltaNet projections group their rows by key head.
void parse_qwen3_next(ConfigFields& fields, ModelConfig& config) {
  config.vocabulary = 151936;
  config.delta_by_head = true;
  config.experts.count = 512, config.experts.chosen = 10;
  fields.only("decoder_sparse_step", 1.0);
  if (!fields.integers("mlp_only_layers").empty()) {
    fields.problem(Code::kUnsupported, fields.path("mlp_only_layers") + " names layers without experts; all layers of qwen3_next have them here.");
  }
  parse_qwen3_5_moe_text(fields, config);
  config.experts.normalized = fields.boolean("norm_topk_prob", true);
}

void write_qwen3_next(const ModelConfig& config, Json& json) {
  write_qwen3_5_moe_text(config, json);
  json.set("norm_topk_prob", Json::boolean(config.experts.normalized));
  json.set("decoder_sparse_step", Json::integer(1));
  json.set("mlp_only_layers", Json::array());
}

void write_qwen3_5_moe_text(const ModelConfig& config, Json& json) {
  write_qwen3_5_text(config, json);
  json.set("num_experts", Json::integer(config.experts.count));
  json.set("num_experts_per_tok", Json::integer(config.experts.chosen));
  json.set("moe_intermediate_size", Json::integer(config.experts.width));
  json.set("shared_expert_intermediate_size", Json::integer(config.experts.shared_width));
  json.set("output_router_logits", Json::boolean(false));
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
