// OLMo-3: OLMo-2 with a sliding window on three of four layers; only layers without a window scale their
// rotary angles.
#include "model/archs/archs.h"

namespace hone::model::archs {

void parse_olmo3(ConfigFields& fields, ModelConfig& config) {
  config.rope.theta = 5e5;
  config.sliding_window = 4096;
  parse_olmo2(fields, config);
  if (config.sliding_theta == 0.0) config.sliding_theta = config.rope.theta;
  config.sliding_window = parse_window(fields, config);
  parse_layer_types(fields, config, [](int64_t layer) { return (layer + 1) % 4 != 0; });
}

void write_olmo3(const ModelConfig& config, Json& json) {
  write_olmo2(config, json);
  json.set("sliding_window", config.sliding_window ? Json::integer(config.sliding_window) : Json());
  write_layer_types(config, json);
  write_rope_by_layer(config, json);
}

}  // namespace hone::model::archs
