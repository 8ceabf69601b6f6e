// LFM2, dense and with experts: most layers are a gated convolution over three tokens, the others attention with q and k normed per
// head.
#include <algorithm>

#include "model/archs/archs.h"

namespace hone::model::archs {
namespace {

/// F of the MLP. The field may hold a size of which F is two thirds, and may have a name of LFM2's own.
int64_t mlp_width_of(ConfigFields& fields, int64_t given) {
  int64_t width = fields.integer("block_ff_dim", given);
  const bool adjusts = fields.boolean("block_auto_adjust_ff_dim", true);
  const double factor = fields.number("block_ffn_dim_multiplier", 1.0);
  const int64_t multiple = fields.integer("block_multiple_of", 256);
  if (!adjusts) return width;
  if (multiple < 1 || width < 1 || !(factor > 0.0)) {
    fields.problem(Code::kConfig, fields.path("block_multiple_of") + ", block_ffn_dim_multiplier and block_ff_dim must be positive.");
    return given;
  }
  width = int64_t(factor * double(int64_t(2.0 * double(width) / 3.0)));
  return (width + multiple - 1) / multiple * multiple;
}

std::vector<bool> convolutions_of(ConfigFields& fields, int64_t layers) {
  const std::vector<std::string> types = fields.texts("layer_types");
  const std::vector<int64_t> attention = fields.integers("full_attn_idxs");
  std::vector<bool> out;
  for (const std::string& type : types) {
    out.push_back(type == "conv");
    if (out.back() || type == "full_attention") continue;
    fields.problem(Code::kUnsupported, fields.path("layer_types") + " has \"" + type + "\"; supported: conv, full_attention.");
    break;
  }
  if (!types.empty()) return out;
  out.assign(size_t(layers), !attention.empty());
  for (const int64_t l : attention) {
    if (l >= 0 && l < layers) out[size_t(l)] = false;
  }
  return out;
}

}  // namespace

namespace {

/// Reads the fields that dense models and mixtures share. The caller has set the default sizes.
void parse_convolutions(ConfigFields& fields, ModelConfig& config) {
  config.vocabulary = 65536, config.layers = 32, config.heads = 32, config.kv_heads = 8;
  config.max_positions = 128000, config.rope.theta = 1e6;
  config.qk_norm = true;
  config.names = ModelConfig::Names::kLfm2;
  config.tied_head = true;
  parse_decoder(fields, config);
  config.tied_head = fields.boolean("tie_embedding", config.tied_head);
  config.norm_eps = float(fields.number("norm_eps", 1e-5));
  config.linear_layers = convolutions_of(fields, config.layers);
  if (std::count(config.linear_layers.begin(), config.linear_layers.end(), true) == 0) config.linear_layers.clear();
  config.delta = {.key_heads = 0, .value_heads = 1, .key_dim = 0, .value_dim = config.width, .taps = fields.integer("conv_L_cache", 3)};
  fields.only("conv_bias", false);
}

}  // namespace

void parse_lfm2(ConfigFields& fields, ModelConfig& config) {
  config.width = 2560, config.mlp_width = 12288;
  parse_convolutions(fields, config);
  config.mlp_width = mlp_width_of(fields, config.mlp_width);
  // Second names of sizes, settings of weight initialisation, and fields that transformers does not read.
  fields.ignore({"block_dim", "block_norm_eps", "block_use_swiglu", "block_use_xavier_init", "block_mlp_init_scale", "block_out_init_scale",
                 "conv_dim", "conv_dim_out", "conv_use_xavier_init", "num_heads", "use_pos_enc", "theta"});
}

void parse_lfm2_moe(ConfigFields& fields, ModelConfig& config) {
  config.width = 2048, config.mlp_width = 7168;
  parse_convolutions(fields, config);
  ExpertsConfig& e = config.experts;
  e.count = fields.integer("num_experts", 32), e.chosen = fields.integer("num_experts_per_tok", 4);
  e.width = fields.integer("moe_intermediate_size", 1792);
  e.sigmoid = true, e.correction = fields.boolean("use_expert_bias", true);
  e.normalized = fields.boolean("norm_topk_prob", true), e.least_sum = 1e-6;
  e.scaling = fields.number("routed_scaling_factor", 1.0);
  const int64_t dense = fields.integer("num_dense_layers", 2);
  for (int64_t l = 0; l < config.layers; ++l) e.layers.push_back(l >= dense);
  if (e.count < 1 || dense >= config.layers) fields.problem(Code::kConfig, fields.path("num_dense_layers") + " is " + std::to_string(dense) + " and num_experts " + std::to_string(e.count) + "; no layer has experts.");
  fields.ignore({"output_router_logits", "router_aux_loss_coef"});
}

void write_lfm2_moe(const ModelConfig& config, Json& json) {
  const ExpertsConfig& e = config.experts;
  write_lfm2(config, json);
  json.set("num_experts", Json::integer(e.count));
  json.set("num_experts_per_tok", Json::integer(e.chosen));
  json.set("moe_intermediate_size", Json::integer(e.width));
  json.set("num_dense_layers", Json::integer(std::count(e.layers.begin(), e.layers.end(), false)));
  json.set("use_expert_bias", Json::boolean(e.correction));
  json.set("norm_topk_prob", Json::boolean(e.normalized));
  json.set("routed_scaling_factor", decimal(e.scaling));
}

void write_lfm2(const ModelConfig& config, Json& json) {
  write_decoder(config, json);
  json.set("norm_eps", Json::number(config.norm_eps));
  json.set("block_auto_adjust_ff_dim", Json::boolean(false));
  json.set("conv_bias", Json::boolean(false));
  json.set("conv_L_cache", Json::integer(config.delta.taps));
  Json types = Json::array();
  for (int64_t l = 0; l < config.layers; ++l) types.push(Json::string(config.is_linear(l) ? "conv" : "full_attention"));
  json.set("layer_types", std::move(types));
}

}  // namespace hone::model::archs
