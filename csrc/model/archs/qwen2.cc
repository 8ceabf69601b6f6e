#include "model/archs/archs.h"

namespace hone::model::archs {

void parse_qwen2(ConfigFields& fields, ModelConfig& config) {
  parse_decoder(fields, config);
  parse_qwen_window(fields, config);
  config.qkv_bias = true;
}

void write_qwen2(const ModelConfig& config, Json& json) {
  write_decoder(config, json);
  write_window(config, json);
}

}  // namespace hone::model::archs
