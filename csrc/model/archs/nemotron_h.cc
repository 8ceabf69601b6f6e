// Nemotron-H: every layer is one of Mamba-2, attention without positions, an MLP with a squared ReLU, or experts.
#include <algorithm>
#include <string>

#include "model/archs/archs.h"
#include "model/archs/mamba.h"

namespace hone::model::archs {
namespace {

/// What a layer is, in the letters of hybrid_override_pattern; ' ': the name of no kind.
char kind_of(const std::string& type) {
  if (type == "linear_attention" || type == "mamba") return 'M';
  if (type == "full_attention" || type == "attention") return '*';
  return type == "mlp" ? '-' : type == "moe" ? 'E' : ' ';
}

/// One letter for each layer.
std::string pattern_of(ConfigFields& fields) {
  std::string out = fields.text("hybrid_override_pattern");
  for (const char* field : {"layer_types", "layers_block_type"}) {
    const std::vector<std::string> types = fields.texts(field);
    if (!types.empty()) out.clear();
    for (const std::string& type : types) out += kind_of(type);
  }
  if (out.empty()) out = "ME*-";  // as transformers has it
  const size_t other = out.find_first_not_of("M*-E");
  if (other != std::string::npos) fields.problem(Code::kUnsupported, fields.path("hybrid_override_pattern") + ": layer " + std::to_string(other) + " is of another kind than M, *, - and E (linear_attention, full_attention, mlp, moe).");
  return out;
}

void parse_pattern(ConfigFields& fields, ModelConfig& config) {
  const std::string pattern = pattern_of(fields);
  fields.ignore({"num_hidden_layers"});
  config.layers = int64_t(pattern.size());
  if (config.layers > kMostLayers) fields.problem(Code::kConfig, fields.path("hybrid_override_pattern") + " has " + std::to_string(config.layers) + " layers; at most " + std::to_string(kMostLayers) + " are supported.");
  for (const char kind : pattern) {
    config.linear_layers.push_back(kind == 'M');
    config.mlp_layers.push_back(kind == '-' || kind == 'E');
    config.experts.layers.push_back(kind == 'E');
  }
}

/// Sizes of Mamba-2. transformers takes time_step_min as the least time step, and no upper bound.
void parse_nemotron_mamba(ConfigFields& fields, ModelConfig& config) {
  const auto either = [&](const char* field, const char* other, int64_t otherwise) { return fields.integer(fields.present(other) ? other : field, otherwise); };
  const int64_t groups = either("n_groups", "mamba_n_groups", 8);
  config.delta = {.key_heads = groups,
                  .value_heads = fields.integer("mamba_num_heads", 128),
                  .key_dim = fields.integer("ssm_state_size", 128),
                  .value_dim = fields.integer("mamba_head_dim", 64),
                  .taps = either("conv_kernel", "mamba_d_conv", 4),
                  .mamba = true,
                  .norms = groups};
  config.steps.least = fields.number(fields.present("mamba_dt_min") ? "mamba_dt_min" : "time_step_min", 0.001);
  fields.only("mamba_hidden_act", {"silu"});
  fields.only(fields.present("mamba_conv_bias") ? "mamba_conv_bias" : "use_conv_bias", true);
  for (const char* field : {"use_bias", "mamba_proj_bias"}) fields.only(field, false);
}

void parse_nemotron_experts(ConfigFields& fields, ModelConfig& config) {
  ExpertsConfig& e = config.experts;
  if (std::count(e.layers.begin(), e.layers.end(), true) == 0) {
    e = {};
    return fields.ignore({"n_routed_experts", "num_experts_per_tok", "moe_intermediate_size", "moe_shared_expert_intermediate_size", "n_shared_experts", "moe_latent_size",
                          "routed_scaling_factor", "n_group", "topk_group", "norm_topk_prob", "moe_shared_expert_overlap"});
  }
  e.count = fields.integer("n_routed_experts", 8), e.chosen = fields.integer("num_experts_per_tok", 2);
  e.width = fields.integer("moe_intermediate_size", 7688), e.shared_width = fields.integer("moe_shared_expert_intermediate_size", 7688);
  e.sigmoid = e.correction = true;
  e.normalized = fields.boolean("norm_topk_prob", true);
  e.scaling = fields.number("routed_scaling_factor", 1.0);
  e.groups = fields.integer("n_group", 1), e.chosen_groups = fields.integer("topk_group", 1);
  const Json* const latent = fields.value("moe_latent_size");
  if (latent) fields.problem(Code::kUnsupported, fields.path("moe_latent_size") + " is " + latent->dump() + "; experts of projected tokens are not supported.");
  fields.ignore({"n_shared_experts", "moe_shared_expert_overlap", "output_router_logits", "router_aux_loss_coef"});  // the width above is of all shared ones
}

}  // namespace

void parse_nemotron_h(ConfigFields& fields, ModelConfig& config) {
  config.names = ModelConfig::Names::kNemotronH;
  config.squared_relu = true;
  config.vocabulary = 131072, config.width = 4096, config.mlp_width = 21504, config.heads = 32, config.kv_heads = 8, config.head_dim = 128;
  config.max_positions = 4096, config.layers = 1;
  parse_decoder(fields, config);
  config.norm_eps = float(fields.number("layer_norm_epsilon", 1e-5));
  parse_pattern(fields, config);
  config.rotated_layers.assign(size_t(config.layers), false);
  parse_nemotron_mamba(fields, config);
  parse_nemotron_experts(fields, config);
  fields.only("mlp_hidden_act", {"relu2"});
  // How transformers computes, how weights are first drawn, layers that predict further tokens (their tensors are mtp.*), and fields
  // that it does not read.
  fields.ignore({"attention_head_dim", "expand", "mamba_expand", "chunk_size", "mamba_chunk_size", "use_mamba_kernels", "mamba_ssm_cache_dtype", "num_logits_to_keep",
                 "time_step_limit", "mamba_dt_limit", "time_step_max", "mamba_dt_max", "time_step_floor", "mamba_dt_init_floor", "rescale_prenorm_residual",
                 "residual_in_fp32", "norm_eps", "num_nextn_predict_layers", "mtp_layers_block_type", "mtp_hybrid_override_pattern", "partial_rotary_factor"});
}

void write_nemotron_h(const ModelConfig& config, Json& json) {
  const kernels::DeltaSizes& s = config.delta;
  const ExpertsConfig& e = config.experts;
  write_decoder(config, json);
  json.set("layer_norm_epsilon", Json::number(config.norm_eps));
  json.set("mlp_hidden_act", Json::string("relu2"));
  json.set("n_groups", Json::integer(s.key_heads));
  json.set("mamba_num_heads", Json::integer(s.value_heads));
  json.set("ssm_state_size", Json::integer(s.key_dim));
  json.set("mamba_head_dim", Json::integer(s.value_dim));
  json.set("conv_kernel", Json::integer(s.taps));
  json.set("time_step_min", decimal(config.steps.least));
  Json types = Json::array();
  for (int64_t l = 0; l < config.layers; ++l) {
    types.push(Json::string(config.is_linear(l) ? "linear_attention" : config.attends(l) ? "full_attention" : config.mixes(l) ? "moe" : "mlp"));
  }
  json.set("layers_block_type", std::move(types));
  if (!config.mixes()) return;
  json.set("n_routed_experts", Json::integer(e.count));
  json.set("num_experts_per_tok", Json::integer(e.chosen));
  json.set("moe_intermediate_size", Json::integer(e.width));
  json.set("moe_shared_expert_intermediate_size", Json::integer(e.shared_width));
  json.set("norm_topk_prob", Json::boolean(e.normalized));
  json.set("routed_scaling_factor", decimal(e.scaling));
  json.set("n_group", Json::integer(e.groups));
  json.set("topk_group", Json::integer(e.chosen_groups));
}

}  // namespace hone::model::archs
