// Granite: Llama with four multipliers. Granite-4.0's models use the hybrid format: layers of Mamba-2 and of attention, or of
// attention alone.
#include <algorithm>
#include <string>

#include "model/archs/archs.h"
#include "model/archs/mamba.h"

namespace hone::model::archs {
namespace {

/// Reads which layers are Mamba-2; files list the layers' types under two names. Without a list all are.
std::vector<bool> mamba_layers(ConfigFields& fields, int64_t layers) {
  std::vector<bool> out;
  for (const char* field : {"layer_types", "layers_block_type"}) {
    for (const std::string& type : fields.texts(field)) {
      const bool mamba = type == "mamba" || type == "linear_attention";
      if (!mamba && type != "attention" && type != "full_attention") {
        fields.problem(Code::kUnsupported, fields.path(field) + " has \"" + type + "\"; supported: mamba, attention.");
        return out;
      }
      out.push_back(mamba);
    }
    if (!out.empty()) break;
  }
  if (out.empty()) out.assign(size_t(layers), true);
  if (std::count(out.begin(), out.end(), true) == 0) out.clear();
  return out;
}

/// Reads the sizes of Mamba-2 layers.
void parse_mamba(ConfigFields& fields, ModelConfig& config) {
  config.linear_layers = mamba_layers(fields, config.layers);
  if (!config.is_hybrid()) {
    return fields.ignore({"mamba_n_heads", "mamba_n_groups", "mamba_d_state", "mamba_d_head", "mamba_d_conv", "mamba_expand", "mamba_conv_bias", "mamba_proj_bias", "time_step_limit"});
  }
  const int64_t expand = fields.integer("mamba_expand", 2);
  parse_mamba_sizes(fields, config, expand * config.width, "mamba_expand times hidden_size");
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

void parse_granitemoe(ConfigFields& fields, ModelConfig& config) {
  config.names = ModelConfig::Names::kGraniteHybrid;
  config.mlp_width = 11008;  // of an expert
  parse_granite(fields, config);
  ExpertsConfig& e = config.experts;
  e.count = fields.integer("num_local_experts", 8), e.chosen = fields.integer("num_experts_per_tok", 2);
  if (e.count < 1) fields.problem(Code::kConfig, fields.path("num_local_experts") + " is " + std::to_string(e.count) + "; a mixture has at least one.");
  e.width = config.mlp_width, e.normalized = e.joined = true;
  fields.ignore({"output_router_logits", "router_aux_loss_coef"});
}

void write_granitemoe(const ModelConfig& config, Json& json) {
  write_granite(config, json);
  json.set("num_local_experts", Json::integer(config.experts.count));
  json.set("num_experts_per_tok", Json::integer(config.experts.chosen));
}

void parse_granite_hybrid(ConfigFields& fields, ModelConfig& config) {
  config.names = ModelConfig::Names::kGraniteHybrid;
  config.fused_gate_up = true;
  config.mlp_width = 11008;  // of an expert
  parse_granite(fields, config);
  ExpertsConfig& e = config.experts;
  e.count = fields.integer("num_local_experts", 8), e.chosen = fields.integer("num_experts_per_tok", 2);
  e.width = config.mlp_width, e.normalized = e.joined = true;
  config.mlp_width = fields.integer("shared_intermediate_size", 1024);
  e.shared_width = config.mlp_width;
  if (e.count == 0) e = ExpertsConfig();
  if (fields.text("position_embedding_type") != "rope") config.rotated_layers.assign(size_t(config.layers), false);
  parse_mamba(fields, config);
  fields.only("normalization_function", {"rmsnorm"});
  fields.ignore({"output_router_logits", "router_aux_loss_coef", "mamba_chunk_size", "init_method"});
}

void write_granite_hybrid(const ModelConfig& config, Json& json) {
  write_granite(config, json);
  json.set("shared_intermediate_size", Json::integer(config.mlp_width));
  json.set("num_local_experts", Json::integer(config.experts.count));
  json.set("num_experts_per_tok", Json::integer(config.experts.chosen));
  if (config.mixes()) json.set("intermediate_size", Json::integer(config.experts.width));
  json.set("position_embedding_type", config.rotated_layers.empty() ? Json::string("rope") : Json());
  Json types = Json::array();
  for (int64_t l = 0; l < config.layers; ++l) types.push(Json::string(config.is_linear(l) ? "linear_attention" : "full_attention"));
  json.set("layer_types", std::move(types));
  if (!config.is_hybrid()) return;
  write_mamba_sizes(config, json);
  json.set("mamba_expand", Json::integer(config.delta.values() / config.width));
}

}  // namespace hone::model::archs
