// Granite: Llama with four multipliers. Granite-4.0's models use the hybrid format: layers of Mamba-2 and of attention, or of
// attention alone.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "model/archs/archs.h"

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

/// Infinity if the item is the object that transformers writes in its place, since JSON has no such number.
double bound_of(const Json& item, const char* where) {
  if (item.kind() != Json::Kind::kObject) return item.as_double(where);
  const Json* text = item.find("__float__");
  if (text && text->as_string(where) == "Infinity") return std::numeric_limits<double>::infinity();
  fail(Code::kConfig, "%s has %s; its bounds are numbers.", where, item.dump().c_str());
}

kernels::StepRange steps_of(ConfigFields& fields) {
  const Json* given = fields.value("time_step_limit");
  if (!given) return {};
  const std::string where = fields.path("time_step_limit");
  const std::vector<Json>& bounds = given->items(where.c_str());
  if (bounds.size() == 2) return {bound_of(bounds[0], where.c_str()), bound_of(bounds[1], where.c_str())};
  fields.problem(Code::kConfig, where + " has " + std::to_string(bounds.size()) + " numbers; it must have two, the bounds of a time step.");
  return {};
}

/// Reads the sizes of Mamba-2 layers.
void parse_mamba(ConfigFields& fields, ModelConfig& config) {
  config.linear_layers = mamba_layers(fields, config.layers);
  if (!config.is_hybrid()) {
    return fields.ignore({"mamba_n_heads", "mamba_n_groups", "mamba_d_state", "mamba_d_head", "mamba_d_conv", "mamba_expand", "mamba_conv_bias", "mamba_proj_bias", "time_step_limit"});
  }
  const int64_t wide = fields.integer("mamba_expand", 2) * config.width, heads = fields.integer("mamba_n_heads", 128);
  const Json* const head = fields.value("mamba_d_head");
  const bool sized = head && head->kind() == Json::Kind::kNumber;
  config.delta = {.key_heads = fields.integer("mamba_n_groups", 1),
                  .value_heads = heads,
                  .key_dim = fields.integer("mamba_d_state", 256),
                  .value_dim = sized ? fields.integer("mamba_d_head") : wide / std::max<int64_t>(heads, 1),
                  .taps = fields.integer("mamba_d_conv", 4),
                  .mamba = true};
  config.steps = steps_of(fields);
  if (config.delta.values() != wide) {
    fields.problem(Code::kConfig, fields.path("mamba_n_heads") + " is " + std::to_string(heads) + " and mamba_d_head " + std::to_string(config.delta.value_dim) +
                                      "; their product must be mamba_expand times hidden_size, " + std::to_string(wide) + ".");
  }
  fields.only("mamba_conv_bias", true);
  fields.only("mamba_proj_bias", false);
}

void write_mamba(const ModelConfig& config, Json& json) {
  const kernels::DeltaSizes& s = config.delta;
  json.set("mamba_n_groups", Json::integer(s.key_heads));
  json.set("mamba_n_heads", Json::integer(s.value_heads));
  json.set("mamba_d_state", Json::integer(s.key_dim));
  json.set("mamba_d_head", Json::integer(s.value_dim));
  json.set("mamba_d_conv", Json::integer(s.taps));
  json.set("mamba_expand", Json::integer(s.values() / config.width));
  json.set("mamba_conv_bias", Json::boolean(true));
  json.set("mamba_proj_bias", Json::boolean(false));
  Json most = Json::object(), bounds = Json::array();
  most.set("__float__", Json::string("Infinity"));
  bounds.push(decimal(config.steps.least));
  bounds.push(std::isinf(config.steps.most) ? std::move(most) : decimal(config.steps.most));
  json.set("time_step_limit", std::move(bounds));
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
  if (config.is_hybrid()) write_mamba(config, json);
}

}  // namespace hone::model::archs
