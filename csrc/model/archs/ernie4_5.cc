// ERNIE-4.5 dense: Llama with rotary pairs of neighbouring dimensions.
#include "model/archs/archs.h"

namespace hone::model::archs {

void parse_ernie4_5(ConfigFields& fields, ModelConfig& config) {
  config.norm_eps = 1e-5f;
  config.max_positions = 131072;
  config.kv_heads = 2;
  config.head_dim = 128;
  config.tied_head = true;
  config.rope.theta = 5e5;
  config.rope.interleaved = true;
  parse_decoder(fields, config);
  fields.only("use_bias", false);
}

void write_ernie4_5(const ModelConfig& config, Json& json) {
  write_decoder(config, json);
  json.set("use_bias", Json::boolean(false));
}

}  // namespace hone::model::archs
