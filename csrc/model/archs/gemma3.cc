// Gemma-3: five layers with a sliding window for each layer without, and a rotary base for each kind; q and k
// are normed.
#include "model/archs/archs.h"
#include "model/archs/gemma.h"

namespace hone::model::archs {

void parse_gemma3(ConfigFields& fields, ModelConfig& config) {
  preset_gemma(config);
  config.vocabulary = 262208;
  config.max_positions = 131072;
  config.qk_norm = true;
  config.rope.theta = 1e6;
  config.sliding_theta = 1e4;
  parse_gemma(fields, config, {});
  config.sliding_theta = fields.number("rope_local_base_freq", config.sliding_theta);
  const int64_t pattern = fields.integer("sliding_window_pattern", fields.integer("_sliding_window_pattern", 6));
  parse_layer_types(fields, config, [&](int64_t layer) { return pattern <= 0 || (layer + 1) % pattern != 0; });
}

void write_gemma3(const ModelConfig& config, Json& json) {
  write_gemma(config, json);
  write_rope_by_layer(config, json);
}

}  // namespace hone::model::archs
