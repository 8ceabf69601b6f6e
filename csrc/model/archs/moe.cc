// Mixtures of experts: Qwen3-MoE, OLMoE, Mixtral and GLM-4.5.
#include <algorithm>
#include <string>

#include "model/archs/archs.h"

namespace hone::model::archs {
namespace {

/// Reads how many experts there are and how many are chosen. Ignores loss coefficients and fields about what
/// calls return.
void parse_experts(ConfigFields& fields, ModelConfig& config, const char* count) {
  ExpertsConfig& e = config.experts;
  e.count = fields.integer(count, e.count);
  e.chosen = fields.integer("num_experts_per_tok", e.chosen);
  if (e.count < 1) fields.problem(Code::kConfig, fields.path(count) + " is " + std::to_string(e.count) + "; a mixture has at least one.");
  fields.ignore({"output_router_logits", "router_aux_loss_coef"});
}

void write_experts(const ModelConfig& config, const char* count, Json& json) {
  json.set(count, Json::integer(config.experts.count));
  json.set("num_experts_per_tok", Json::integer(config.experts.chosen));
  json.set("output_router_logits", Json::boolean(false));
}

/// Sets which layers have experts: those with has(layer). The list stays empty if all layers have experts.
template <class Has>
void choose_layers(ModelConfig& config, const Has& has) {
  std::vector<bool> layers;
  for (int64_t l = 0; l < config.layers; ++l) layers.push_back(has(l));
  const int64_t mixed = std::count(layers.begin(), layers.end(), true);
  if (mixed == 0) config.experts = {};
  else if (mixed < config.layers) config.experts.layers = layers;
}

}  // namespace

void parse_qwen3_moe(ConfigFields& fields, ModelConfig& config) {
  ExpertsConfig& e = config.experts;
  e.count = 128, e.chosen = 8;
  parse_decoder(fields, config);
  parse_qwen_window(fields, config);
  config.qk_norm = true;
  parse_experts(fields, config, fields.present("num_local_experts") ? "num_local_experts" : "num_experts");
  e.width = fields.integer("moe_intermediate_size", 768);
  e.normalized = fields.boolean("norm_topk_prob", false);
  const int64_t step = fields.integer("decoder_sparse_step", 1);
  if (step < 1) return fields.problem(Code::kConfig, fields.path("decoder_sparse_step") + " is " + std::to_string(step) + "; it must be at least 1.");
  const std::vector<int64_t> dense = fields.integers("mlp_only_layers");
  choose_layers(config, [&](int64_t l) { return (l + 1) % step == 0 && std::find(dense.begin(), dense.end(), l) == dense.end(); });
  if (!config.mixes()) fields.problem(Code::kConfig, fields.path("mlp_only_layers") + " leaves no layer with experts; model_type \"qwen3\" has none.");
}

void write_qwen3_moe(const ModelConfig& config, Json& json) {
  write_qwen3(config, json);
  write_experts(config, "num_experts", json);
  json.set("moe_intermediate_size", Json::integer(config.experts.width));
  json.set("norm_topk_prob", Json::boolean(config.experts.normalized));
  json.set("decoder_sparse_step", Json::integer(1));
  Json dense = Json::array();
  for (int64_t l = 0; l < config.layers; ++l) {
    if (!config.mixes(l)) dense.push(Json::integer(l));
  }
  json.set("mlp_only_layers", std::move(dense));
}

void parse_olmoe(ConfigFields& fields, ModelConfig& config) {
  ExpertsConfig& e = config.experts;
  e.count = 64, e.chosen = 8;
  config.norm_eps = 1e-5f;
  config.qk_norm = config.qk_norm_whole = true;
  config.mlp_width = 2048;
  parse_decoder(fields, config);
  parse_experts(fields, config, "num_experts");
  e.width = config.mlp_width;
  e.normalized = fields.boolean("norm_topk_prob", false);
}

void write_olmoe(const ModelConfig& config, Json& json) {
  write_decoder(config, json);
  write_experts(config, "num_experts", json);
  json.set("norm_topk_prob", Json::boolean(config.experts.normalized));
  json.set("attention_bias", Json::boolean(false));
}

void parse_mixtral(ConfigFields& fields, ModelConfig& config) {
  ExpertsConfig& e = config.experts;
  e.count = 8, e.chosen = 2, e.normalized = true;
  config.norm_eps = 1e-5f;
  config.names = ModelConfig::Names::kMixtral;
  config.mlp_width = 14336;
  config.rope.theta = 1e6;
  parse_mistral(fields, config);
  parse_experts(fields, config, "num_local_experts");
  e.width = config.mlp_width;
}

void write_mixtral(const ModelConfig& config, Json& json) {
  write_mistral(config, json);
  write_experts(config, "num_local_experts", json);
}

void parse_glm4_moe(ConfigFields& fields, ModelConfig& config) {
  ExpertsConfig& e = config.experts;
  e.count = 128, e.chosen = 8, e.sigmoid = e.correction = true;
  config.norm_eps = 1e-5f;
  config.max_positions = 131072;
  config.rope.partial = fields.number("partial_rotary_factor", 0.5);
  config.qkv_bias = fields.boolean("attention_bias", false);
  config.qk_norm = fields.boolean("use_qk_norm", false);
  parse_decoder(fields, config, true);
  parse_experts(fields, config, "n_routed_experts");
  e.width = fields.integer("moe_intermediate_size", 1408);
  e.shared_width = e.width * fields.integer("n_shared_experts", 1);
  e.normalized = fields.boolean("norm_topk_prob", true);
  e.scaling = fields.number("routed_scaling_factor", 1.0);
  e.groups = fields.integer("n_group", 1);
  e.chosen_groups = fields.integer("topk_group", 1);
  config.further_layers = fields.integer("num_nextn_predict_layers", 1);
  const int64_t first = fields.integer("first_k_dense_replace", 1);
  choose_layers(config, [&](int64_t l) { return l >= first; });
  if (!config.mixes()) fields.problem(Code::kConfig, fields.path("first_k_dense_replace") + " is " + std::to_string(first) + "; it leaves no layer with experts.");
}

void write_glm4_moe(const ModelConfig& config, Json& json) {
  const ExpertsConfig& e = config.experts;
  write_decoder(config, json);
  write_experts(config, "n_routed_experts", json);
  json.set("attention_bias", Json::boolean(config.qkv_bias));
  json.set("use_qk_norm", Json::boolean(config.qk_norm));
  json.set("partial_rotary_factor", Json::number(config.rope.partial));
  json.set("moe_intermediate_size", Json::integer(e.width));
  json.set("n_shared_experts", Json::integer(e.shared_width / std::max<int64_t>(e.width, 1)));
  json.set("norm_topk_prob", Json::boolean(e.normalized));
  json.set("routed_scaling_factor", decimal(e.scaling));
  json.set("n_group", Json::integer(e.groups));
  json.set("topk_group", Json::integer(e.chosen_groups));
  int64_t first = 0;
  while (first < config.layers && !config.mixes(first)) ++first;
  json.set("first_k_dense_replace", Json::integer(first));
  json.set("num_nextn_predict_layers", Json::integer(config.further_layers));
}

}  // namespace hone::model::archs
