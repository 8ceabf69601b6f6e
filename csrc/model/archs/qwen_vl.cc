// Text models of Qwen2.5-VL and Qwen3-VL. Rotary positions have three axes, which are equal for text.
#include "model/archs/archs.h"

namespace hone::model::archs {

void parse_qwen2_vl_text(ConfigFields& fields, ModelConfig& config) {
  config.arch = "qwen2";
  config.rope.theta = 1e6;
  parse_qwen2(fields, config);
}

void parse_qwen3_vl_text(ConfigFields& fields, ModelConfig& config) {
  config.arch = "qwen3";
  config.head_dim = 128;
  config.rope.theta = 5e5;
  parse_qwen3(fields, config);
}

/// Parses both file styles: transformers 4 has the text model's fields at the top level, next to those of the
/// vision part.
void parse_qwen2_5_vl(ConfigFields& fields, ModelConfig& config) {
  if (fields.present("text_config")) return parse_llava(fields, config);
  parse_qwen2_vl_text(fields, config);
  fields.ignore({"vision_config"});
}

}  // namespace hone::model::archs
