// Gemma-2: layers alternate between sliding-window and full attention; attention scores and logits have soft
// caps.
#include "model/archs/archs.h"
#include "model/archs/gemma.h"

namespace hone::model::archs {

void parse_gemma2(ConfigFields& fields, ModelConfig& config) {
  preset_gemma(config);
  config.vocabulary = 256000;
  config.max_positions = 8192;
  parse_gemma(fields, config, {.attention_softcap = 50.0, .logit_softcap = 30.0});
  parse_layer_types(fields, config, [](int64_t layer) { return layer % 2 == 0; });
}

void write_gemma2(const ModelConfig& config, Json& json) { write_gemma(config, json); }

}  // namespace hone::model::archs
