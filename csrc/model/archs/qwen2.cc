// Qwen2; and MiMo, which is Qwen2 plus layers that predict further tokens, which are not loaded.
#include "model/archs/archs.h"

namespace hone::model::archs {

void parse_qwen2(ConfigFields& fields, ModelConfig& config) {
  parse_decoder(fields, config);
  parse_qwen_window(fields, config);
  config.qkv_bias = true;
}

void parse_mimo(ConfigFields& fields, ModelConfig& config) {
  parse_qwen2(fields, config);
  fields.only("attention_bias", true);
  fields.ignore({"num_nextn_predict_layers"});
}

void write_qwen2(const ModelConfig& config, Json& json) {
  write_decoder(config, json);
  write_window(config, json);
}

}  // namespace hone::model::archs
