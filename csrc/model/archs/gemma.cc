#include "model/archs/gemma.h"

#include <cmath>

namespace hone::model::archs {
namespace {

Json number_or_null(double value) { return value != 0.0 ? Json::number(value) : Json(); }

/// Reads a soft cap: null means no cap; an absent field means `otherwise`, the default of transformers'
/// class.
float soft_cap(ConfigFields& fields, const char* field, double otherwise) {
  return float(fields.number(field, fields.present(field) ? 0.0 : otherwise));
}

}  // namespace

void preset_gemma(ModelConfig& config) {
  config.width = 2304, config.mlp_width = 9216, config.layers = 26;
  config.heads = 8, config.kv_heads = 4, config.head_dim = 256;
  config.norms = ModelConfig::Norms::kAround;
  config.norm_offset = 1.0f;
  config.gelu = true;
  config.tied_head = true;
  config.sliding_window = 4096;
}

void parse_gemma(ConfigFields& fields, ModelConfig& config, const SoftCaps& otherwise) {
  parse_decoder(fields, config);
  config.embedding_scale = float(std::sqrt(double(config.width)));
  config.query_scalar = fields.number("query_pre_attn_scalar", 256.0);
  if (!(config.query_scalar > 0.0)) fields.problem(Code::kConfig, fields.path("query_pre_attn_scalar") + " must be above 0.");
  config.sliding_window = parse_window(fields, config);
  config.attention_softcap = soft_cap(fields, "attn_logit_softcapping", otherwise.attention_softcap);
  config.logit_softcap = soft_cap(fields, "final_logit_softcapping", otherwise.logit_softcap);
}

void write_gemma(const ModelConfig& config, Json& json) {
  write_decoder(config, json);
  json.set("attention_bias", Json::boolean(false));
  json.set("query_pre_attn_scalar", Json::number(config.query_scalar));
  json.set("sliding_window", config.sliding_window ? Json::integer(config.sliding_window) : Json());
  json.set("attn_logit_softcapping", number_or_null(double(config.attention_softcap)));
  json.set("final_logit_softcapping", number_or_null(double(config.logit_softcap)));
  write_layer_types(config, json);
}

}  // namespace hone::model::archs
