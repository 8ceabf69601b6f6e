// ERNIE-4.5, dense and with experts: Llama with rotary pairs of neighbouring dimensions.
#include <algorithm>
#include <string>

#include "model/archs/archs.h"

namespace hone::model::archs {

namespace {

void parse_ernie(ConfigFields& fields, ModelConfig& config) {
  config.norm_eps = 1e-5f;
  config.max_positions = 131072;
  config.tied_head = true;
  config.rope.theta = 5e5;
  config.rope.interleaved = true;
  parse_decoder(fields, config);
  fields.only("use_bias", false);
}

}  // namespace

void parse_ernie4_5(ConfigFields& fields, ModelConfig& config) {
  config.kv_heads = 2;
  config.head_dim = 128;
  parse_ernie(fields, config);
}

/// The correction is added to softmax scores here.
void parse_ernie4_5_moe(ConfigFields& fields, ModelConfig& config) {
  config.names = ModelConfig::Names::kErnieMoe;
  config.vocabulary = 103424, config.width = 2560, config.mlp_width = 12288, config.layers = 28, config.heads = 20, config.kv_heads = 4;
  parse_ernie(fields, config);
  ExpertsConfig& e = config.experts;
  e.count = fields.integer("moe_num_experts", 64), e.chosen = fields.integer("moe_k", 6);
  e.width = fields.integer("moe_intermediate_size", 1536);
  e.shared_width = e.width * fields.integer("moe_num_shared_experts", 2);
  e.normalized = e.correction = true;
  const int64_t first = fields.integer("moe_layer_start_index", 1), end = fields.integer("moe_layer_end_index", -1), step = fields.integer("moe_layer_interval", 1);
  for (int64_t l = 0; l < config.layers; ++l) e.layers.push_back(step > 0 && (l + 1) % step == 0 && l >= first && (end == -1 || l <= end));
  if (e.count < 1 || std::count(e.layers.begin(), e.layers.end(), true) == 0) {
    fields.problem(Code::kConfig, fields.path("moe_num_experts") + " is " + std::to_string(e.count) + ", and moe_layer_start_index, moe_layer_end_index and moe_layer_interval are " + std::to_string(first) + ", " + std::to_string(end) + " and " + std::to_string(step) + "; no layer has experts.");
  }
  fields.only("moe_use_aux_free", true);
  fields.ignore({"moe_norm_min", "output_router_logits", "router_aux_loss_coef", "moe_capacity", "moe_gate"});  // chosen scores never sum to so little
}

void write_ernie4_5_moe(const ModelConfig& config, Json& json) {
  const ExpertsConfig& e = config.experts;
  write_ernie4_5(config, json);
  json.set("moe_num_experts", Json::integer(e.count));
  json.set("moe_k", Json::integer(e.chosen));
  json.set("moe_intermediate_size", Json::integer(e.width));
  json.set("moe_num_shared_experts", Json::integer(e.shared_width / std::max<int64_t>(e.width, 1)));
  std::vector<int64_t> sparse;
  for (int64_t l = 0; l < config.layers; ++l) {
    if (config.mixes(l)) sparse.push_back(l);
  }
  json.set("moe_layer_start_index", Json::integer(sparse.front()));
  json.set("moe_layer_interval", Json::integer(sparse.size() > 1 ? sparse[1] - sparse[0] : 1));
  json.set("moe_layer_end_index", Json::integer(sparse.back()));
}

void write_ernie4_5(const ModelConfig& config, Json& json) {
  write_decoder(config, json);
  json.set("use_bias", Json::boolean(false));
}

}  // namespace hone::model::archs
