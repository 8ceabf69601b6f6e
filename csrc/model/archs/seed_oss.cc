// Seed-OSS: Llama with biases on the projections of queries, keys and values.
#include "model/archs/archs.h"

namespace hone::model::archs {

void parse_seed_oss(ConfigFields& fields, ModelConfig& config) {
  config.max_positions = 524288;
  config.kv_heads = 8;
  config.head_dim = 128;
  config.qkv_bias = fields.boolean("attention_bias", true);
  parse_decoder(fields, config);
}

void write_seed_oss(const ModelConfig& config, Json& json) {
  write_decoder(config, json);
  json.set("attention_bias", Json::boolean(config.qkv_bias));
  json.set("attention_out_bias", Json::boolean(false));
  json.set("mlp_bias", Json::boolean(false));
}

}  // namespace hone::model::archs
