// Falcon-H1: every layer has attention and Mamba-2 side by side behind one norm, and muP's factors inside its layers.
#include <algorithm>
#include <string>

#include "model/archs/archs.h"
#include "model/archs/mamba.h"

namespace hone::model::archs {
namespace {

/// Reads `out.size()` factors; without the field all are 1.
template <class Factors>
void parse_factors(ConfigFields& fields, const char* field, Factors& out) {
  const std::vector<double> given = fields.numbers(field);
  if (given.size() == out.size()) std::copy(given.begin(), given.end(), out.begin());
  else if (!given.empty()) fields.problem(Code::kConfig, fields.path(field) + " has " + std::to_string(given.size()) + " numbers; it must have " + std::to_string(out.size()) + ".");
}

void parse_multipliers(ConfigFields& fields, ModelConfig& config) {
  Multipliers& m = config.multipliers;
  m.attention_in = fields.number("attention_in_multiplier", 1.0);
  m.key = fields.number("key_multiplier", 1.0);
  m.attention_out = fields.number("attention_out_multiplier", 1.0);
  m.linear_in = fields.number("ssm_in_multiplier", 1.0);
  m.linear_out = fields.number("ssm_out_multiplier", 1.0);
  parse_factors(fields, "ssm_multipliers", m.linear);
  std::array<double, 2> mlp{1.0, 1.0};
  parse_factors(fields, "mlp_multipliers", mlp);
  m.gate = mlp[0], m.down = mlp[1];
  config.embedding_scale = float(fields.number("embedding_multiplier", 1.0));
  config.logits_scaling = 1.0 / fields.number("lm_head_multiplier", 1.0);
}

Json list_of(std::initializer_list<double> values) {
  Json out = Json::array();
  for (const double value : values) out.push(decimal(value));
  return out;
}

}  // namespace

void parse_falcon_h1(ConfigFields& fields, ModelConfig& config) {
  config.names = ModelConfig::Names::kFalconH1;
  config.vocabulary = 128000, config.width = 4096, config.mlp_width = 14336, config.layers = 32, config.heads = 32, config.kv_heads = 8;
  config.max_positions = 8192, config.norm_eps = 1e-5f;
  parse_decoder(fields, config);
  parse_multipliers(fields, config);
  config.linear_layers.assign(size_t(config.layers), true);
  config.beside = true;
  const int64_t expanded = fields.integer("mamba_expand", 2) * config.width;
  const bool null = fields.present("mamba_d_ssm") && !fields.value("mamba_d_ssm");
  parse_mamba_sizes(fields, config, null ? expanded : fields.integer("mamba_d_ssm", 1024), "mamba_d_ssm");
  const bool normed = fields.boolean("mamba_rms_norm", false);
  config.delta.norms = normed ? config.delta.key_heads : 0;
  if (normed && fields.boolean("mamba_norm_before_gate", true)) {
    fields.problem(Code::kUnsupported, fields.path("mamba_norm_before_gate") + " is true with mamba_rms_norm; only a norm after the gate is supported.");
  }
  fields.only("projectors_bias", false);
  // How transformers computes, how weights are first drawn, and fields that it does not read.
  fields.ignore({"mamba_norm_before_gate", "mamba_chunk_size", "mamba_use_mlp", "mlp_expansion_factor", "attn_layer_indices", "num_logits_to_keep",
                 "time_step_min", "time_step_max", "time_step_floor"});
}

void write_falcon_h1(const ModelConfig& config, Json& json) {
  const Multipliers& m = config.multipliers;
  write_decoder(config, json);
  write_mamba_sizes(config, json);
  json.set("mamba_d_ssm", Json::integer(config.delta.values()));
  json.set("mamba_rms_norm", Json::boolean(config.delta.norms > 0));
  json.set("mamba_norm_before_gate", Json::boolean(false));
  for (const char* field : {"attention_bias", "mlp_bias", "projectors_bias"}) json.set(field, Json::boolean(false));
  json.set("embedding_multiplier", decimal(double(config.embedding_scale)));
  json.set("lm_head_multiplier", decimal(1.0 / config.logits_scaling));
  json.set("attention_in_multiplier", decimal(m.attention_in));
  json.set("key_multiplier", decimal(m.key));
  json.set("attention_out_multiplier", decimal(m.attention_out));
  json.set("ssm_in_multiplier", decimal(m.linear_in));
  json.set("ssm_out_multiplier", decimal(m.linear_out));
  json.set("ssm_multipliers", list_of({m.linear[0], m.linear[1], m.linear[2], m.linear[3], m.linear[4]}));
  json.set("mlp_multipliers", list_of({m.gate, m.down}));
}

}  // namespace hone::model::archs
