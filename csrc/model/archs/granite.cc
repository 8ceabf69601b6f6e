// Granite: Llama with four multipliers. Granite-4.0's dense models use the hybrid format, without Mamba
// layers or experts.
#include "model/archs/archs.h"

namespace hone::model::archs {
namespace {

/// Refuses Mamba-2 layers; files list the layers' types under two names.
void expect_attention(ConfigFields& fields) {
  for (const char* field : {"layer_types", "layers_block_type"}) {
    for (const std::string& type : fields.texts(field)) {
      if (type == "attention" || type == "full_attention") continue;
      return fields.problem(Code::kUnsupported, fields.path(field) + " has \"" + type + "\"; only layers of attention are supported.");
    }
  }
}

}  // namespace

void parse_granite(ConfigFields& fields, ModelConfig& config) {
  parse_decoder(fields, config);
  config.embedding_scale = float(fields.number("embedding_multiplier", 1.0));
  config.residual_scale = float(fields.number("residual_multiplier", 1.0));
  config.attention_multiplier = fields.number("attention_multiplier", 1.0);
  config.logits_scaling = fields.number("logits_scaling", 1.0);
}

void write_granite(const ModelConfig& config, Json& json) {
  write_decoder(config, json);
  json.set("embedding_multiplier", Json::number(double(config.embedding_scale)));
  json.set("residual_multiplier", Json::number(double(config.residual_scale)));
  json.set("attention_multiplier", Json::number(config.attention_multiplier));
  json.set("logits_scaling", Json::number(config.logits_scaling));
}

/// Throws without layer_types, since transformers then takes every layer for a Mamba layer.
void parse_granite_hybrid(ConfigFields& fields, ModelConfig& config) {
  config.names = ModelConfig::Names::kGraniteHybrid;
  config.fused_gate_up = true;
  const bool typed = fields.value("layer_types") || fields.value("layers_block_type");
  if (!typed) fields.problem(Code::kUnsupported, fields.path("layer_types") + " is missing: all layers would be of Mamba; only layers of attention are supported.");
  expect_attention(fields);
  // a placeholder: intermediate_size is that of experts, which these models do not have
  config.mlp_width = 1;
  parse_granite(fields, config);
  config.mlp_width = fields.integer("shared_intermediate_size", 1024);
  if (fields.text("position_embedding_type") != "rope") config.rotated_layers.assign(size_t(config.layers), false);
  fields.only("normalization_function", {"rmsnorm"});
  fields.ignore({"num_local_experts", "num_experts_per_tok", "output_router_logits", "router_aux_loss_coef", "mamba_n_heads", "mamba_n_groups",
                 "mamba_d_state", "mamba_d_head", "mamba_d_conv", "mamba_expand", "mamba_chunk_size", "mamba_conv_bias",
                 "mamba_proj_bias", "time_step_limit", "init_method"});
}

void write_granite_hybrid(const ModelConfig& config, Json& json) {
  write_granite(config, json);
  json.set("shared_intermediate_size", Json::integer(config.mlp_width));
  json.set("num_local_experts", Json::integer(0));
  json.set("num_experts_per_tok", Json::integer(0));
  json.set("position_embedding_type", config.rotated_layers.empty() ? Json::string("rope") : Json());
  Json types = Json::array();
  for (int64_t l = 0; l < config.layers; ++l) types.push(Json::string("full_attention"));
  json.set("layer_types", std::move(types));
}

}  // namespace hone::model::archs
