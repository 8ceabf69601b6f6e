// Mixtures of experts: Qwen2-MoE, Qwen3-MoE, OLMoE, Mixtral, MiniMax-M2, GLM-4.5, dots.llm1, Solar-Open and K-EXAONE.
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

/// Reads which layers have experts as Qwen's files have it.
void choose_qwen_layers(ConfigFields& fields, ModelConfig& config, const char* dense_type) {
  const int64_t step = fields.integer("decoder_sparse_step", 1);
  if (step < 1) return fields.problem(Code::kConfig, fields.path("decoder_sparse_step") + " is " + std::to_string(step) + "; it must be at least 1.");
  const std::vector<int64_t> dense = fields.integers("mlp_only_layers");
  choose_layers(config, [&](int64_t l) { return (l + 1) % step == 0 && std::find(dense.begin(), dense.end(), l) == dense.end(); });
  if (!config.mixes()) fields.problem(Code::kConfig, fields.path("mlp_only_layers") + " leaves no layer with experts; model_type \"" + dense_type + "\" has none.");
}

void write_qwen_experts(const ModelConfig& config, Json& json) {
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

/// Reads experts with sigmoid scores, a correction and shared experts as DeepSeek's files have them.
void parse_corrected_experts(ConfigFields& fields, ModelConfig& config, bool normalized, int64_t dense, const char* count = "n_routed_experts", const char* shared = "n_shared_experts") {
  ExpertsConfig& e = config.experts;
  e.sigmoid = e.correction = true;
  parse_experts(fields, config, count);
  e.width = fields.integer("moe_intermediate_size", 1408);
  e.shared_width = e.width * fields.integer(shared, 1);
  e.normalized = fields.boolean("norm_topk_prob", normalized);
  e.scaling = fields.number("routed_scaling_factor", 1.0);
  e.groups = fields.integer("n_group", 1);
  e.chosen_groups = fields.integer("topk_group", 1);
  const int64_t first = fields.integer("first_k_dense_replace", dense);
  choose_layers(config, [&](int64_t l) { return l >= first; });
  if (!config.mixes()) fields.problem(Code::kConfig, fields.path("first_k_dense_replace") + " is " + std::to_string(first) + "; it leaves no layer with experts.");
}

void write_corrected_experts(const ModelConfig& config, Json& json, const char* count = "n_routed_experts", const char* shared = "n_shared_experts") {
  const ExpertsConfig& e = config.experts;
  write_experts(config, count, json);
  json.set("moe_intermediate_size", Json::integer(e.width));
  json.set(shared, Json::integer(e.shared_width / std::max<int64_t>(e.width, 1)));
  json.set("norm_topk_prob", Json::boolean(e.normalized));
  json.set("routed_scaling_factor", decimal(e.scaling));
  json.set("n_group", Json::integer(e.groups));
  json.set("topk_group", Json::integer(e.chosen_groups));
  int64_t first = 0;
  while (first < config.layers && !config.mixes(first)) ++first;
  json.set("first_k_dense_replace", Json::integer(first));
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
  choose_qwen_layers(fields, config, "qwen3");
}

void write_qwen3_moe(const ModelConfig& config, Json& json) {
  write_qwen3(config, json);
  write_qwen_experts(config, json);
}

/// One shared expert with a gate stands beside the experts.
void parse_qwen2_moe(ConfigFields& fields, ModelConfig& config) {
  ExpertsConfig& e = config.experts;
  e.count = 60, e.chosen = 4, e.shared_gate = true;
  config.vocabulary = 151936, config.width = 2048, config.mlp_width = 5632, config.layers = 24, config.heads = 16;
  config.max_positions = 32768;
  parse_decoder(fields, config);
  config.qkv_bias = fields.boolean("qkv_bias", true);
  parse_experts(fields, config, "num_experts");
  e.width = fields.integer("moe_intermediate_size", 1408);
  e.shared_width = fields.integer("shared_expert_intermediate_size", 5632);
  e.normalized = fields.boolean("norm_topk_prob", false);
  if (e.shared_width < 1) fields.problem(Code::kConfig, fields.path("shared_expert_intermediate_size") + " is " + std::to_string(e.shared_width) + "; it must be at least 1.");
  fields.only("use_sliding_window", false);
  fields.ignore({"sliding_window", "max_window_layers"});
  choose_qwen_layers(fields, config, "qwen2");
}

void write_qwen2_moe(const ModelConfig& config, Json& json) {
  write_decoder(config, json);
  write_qwen_experts(config, json);
  json.set("qkv_bias", Json::boolean(config.qkv_bias));
  json.set("use_sliding_window", Json::boolean(false));
  json.set("shared_expert_intermediate_size", Json::integer(config.experts.shared_width));
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
  config.experts.count = 128, config.experts.chosen = 8;
  config.norm_eps = 1e-5f;
  config.max_positions = 131072;
  config.rope.partial = fields.number("partial_rotary_factor", 0.5);
  config.qkv_bias = fields.boolean("attention_bias", false);
  config.qk_norm = fields.boolean("use_qk_norm", false);
  parse_decoder(fields, config, true);
  parse_corrected_experts(fields, config, true, 1);
  config.further_layers = fields.integer("num_nextn_predict_layers", 1);
}

/// The last layers, if any, have a window.
void parse_dots1(ConfigFields& fields, ModelConfig& config) {
  config.vocabulary = 152064, config.width = 4608, config.mlp_width = 10944, config.layers = 62, config.heads = 32;
  config.sliding_window = 4096;
  config.qk_norm = true;
  config.experts.count = 128, config.experts.chosen = 6;
  parse_decoder(fields, config);
  parse_corrected_experts(fields, config, false, 0);
  config.sliding_window = parse_window(fields, config);
  const int64_t first = fields.integer("max_window_layers", 62);
  parse_layer_types(fields, config, [&](int64_t layer) { return config.sliding_window > 0 && layer >= first; });
  fields.only("moe_layer_freq", 1.0);
  fields.ignore({"scoring_func", "topk_method", "ep_size", "aux_loss_alpha", "seq_aux"});  // transformers scores in one way only
}

void write_dots1(const ModelConfig& config, Json& json) {
  write_decoder(config, json);
  write_corrected_experts(config, json);
  json.set("attention_bias", Json::boolean(false));
  json.set("sliding_window", config.sliding_window ? Json::integer(config.sliding_window) : Json());
  write_layer_types(config, json);
}

void parse_solar_open(ConfigFields& fields, ModelConfig& config) {
  config.vocabulary = 196608, config.width = 4096, config.layers = 48, config.heads = 64, config.kv_heads = 8, config.head_dim = 128;
  config.mlp_width = 10240;  // of no layer: all have experts
  config.norm_eps = 1e-5f, config.max_positions = 131072, config.rope.theta = 1e6;
  config.experts.count = 128, config.experts.chosen = 8;
  parse_decoder(fields, config);
  fields.only("first_k_dense_replace", 0.0);
  parse_corrected_experts(fields, config, true, 0);
}

void write_solar_open(const ModelConfig& config, Json& json) {
  write_decoder(config, json);
  write_corrected_experts(config, json);
  json.set("attention_bias", Json::boolean(false));
}

/// EXAONE-4 with its norms before attention and MLP, and with experts.
void parse_exaone_moe(ConfigFields& fields, ModelConfig& config) {
  config.vocabulary = 102400, config.width = 4096, config.mlp_width = 16384, config.layers = 32, config.heads = 32;
  config.experts.count = 64, config.experts.chosen = 8;
  parse_exaone4(fields, config);
  config.norms = ModelConfig::Norms::kBefore;
  parse_corrected_experts(fields, config, true, 1, "num_experts", "num_shared_experts");
  config.experts.scaling = fields.number("routed_scaling_factor", 2.5);
  const std::vector<std::string> types = fields.texts("mlp_layer_types");
  if (!types.empty()) {
    config.experts.layers.clear();
    choose_layers(config, [&](int64_t l) { return size_t(l) < types.size() && types[size_t(l)] == "sparse"; });
    if (!config.mixes()) fields.problem(Code::kConfig, fields.path("mlp_layer_types") + " leaves no layer with experts.");
  }
  fields.ignore({"num_nextn_predict_layers"});  // their tensors are mtp.*
}

void write_exaone_moe(const ModelConfig& config, Json& json) {
  write_exaone4(config, json);
  write_corrected_experts(config, json, "num_experts", "num_shared_experts");
  Json types = Json::array();
  for (int64_t l = 0; l < config.layers; ++l) types.push(Json::string(config.mixes(l) ? "sparse" : "dense"));
  json.set("mlp_layer_types", std::move(types));
}

/// Mixtral's names, norms of q and k over all heads, and sigmoid scores with a correction.
void parse_minimax_m2(ConfigFields& fields, ModelConfig& config) {
  ExpertsConfig& e = config.experts;
  e.count = 256, e.chosen = 8, e.sigmoid = e.correction = e.normalized = true;
  config.names = ModelConfig::Names::kMixtral;
  config.vocabulary = 200064, config.width = 3072, config.mlp_width = 1536, config.layers = 62, config.heads = 48, config.kv_heads = 8;
  config.head_dim = fields.integer("head_dim", 128);
  config.max_positions = 196608, config.rope.theta = 5e6;
  config.qk_norm = config.qk_norm_whole = true;
  const double rotated = double(fields.integer("rotary_dim", config.head_dim)) / double(std::max<int64_t>(config.head_dim, 1));
  config.rope.partial = fields.number("partial_rotary_factor", rotated);
  parse_decoder(fields, config, true);
  parse_experts(fields, config, "num_local_experts");
  e.width = config.mlp_width;
  for (const char* field : {"use_qk_norm", "use_routing_bias"}) fields.only(field, true);
  fields.only("qk_norm_type", {"per_layer"});
  fields.only("scoring_func", {"sigmoid"});
  fields.only("shared_intermediate_size", 0.0);
  // Layers that predict further tokens, and fields that transformers does not read.
  fields.ignore({"use_mtp", "num_mtp_modules", "mtp_transformer_layers", "attn_type_list", "layernorm_full_attention_beta", "layernorm_linear_attention_beta", "layernorm_mlp_beta"});
}

void write_minimax_m2(const ModelConfig& config, Json& json) {
  write_decoder(config, json);
  write_experts(config, "num_local_experts", json);
  json.set("rotary_dim", Json::integer(config.rotary_dim()));
}

void write_glm4_moe(const ModelConfig& config, Json& json) {
  write_decoder(config, json);
  write_corrected_experts(config, json);
  json.set("attention_bias", Json::boolean(config.qkv_bias));
  json.set("use_qk_norm", Json::boolean(config.qk_norm));
  json.set("partial_rotary_factor", Json::number(config.rope.partial));
  json.set("num_nextn_predict_layers", Json::integer(config.further_layers));
}

}  // namespace hone::model::archs
