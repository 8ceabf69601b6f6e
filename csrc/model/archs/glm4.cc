// GLM-4 and GLM-4-0414: half of each head's dimensions are rotated, in neighbouring pairs; GLM-4-0414 has
// norms before and after attention and MLP.
#include "model/archs/archs.h"

namespace hone::model::archs {

void parse_glm(ConfigFields& fields, ModelConfig& config) {
  config.norm_eps = 1.5625e-7f;
  config.max_positions = 131072;
  config.kv_heads = 2;
  config.head_dim = 128;
  config.fused_gate_up = true;
  config.rope.interleaved = true;
  config.rope.partial = fields.number("partial_rotary_factor", 0.5);
  config.qkv_bias = fields.boolean("attention_bias", true);
  parse_decoder(fields, config, true);
}

void write_glm(const ModelConfig& config, Json& json) {
  write_decoder(config, json);
  json.set("attention_bias", Json::boolean(config.qkv_bias));
  json.set("partial_rotary_factor", Json::number(config.rope.partial));
}

void parse_glm4(ConfigFields& fields, ModelConfig& config) {
  parse_glm(fields, config);
  config.norms = ModelConfig::Norms::kAround;
  config.names = ModelConfig::Names::kGlm4;
}

}  // namespace hone::model::archs
