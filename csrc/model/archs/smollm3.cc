// SmolLM3: every fourth layer has no rotary embedding.
#include "model/archs/archs.h"

namespace hone::model::archs {

void parse_smollm3(ConfigFields& fields, ModelConfig& config) {
  config.tied_head = true;
  config.max_positions = 32768;
  config.rope.theta = 2e6;
  parse_decoder(fields, config);
  // 1 means that the layer has rotary embedding, contrary to the field's name
  const std::vector<int64_t> rotated = fields.integers("no_rope_layers");
  const int64_t interval = fields.integer("no_rope_layer_interval", 4);
  for (int64_t l = 0; l < config.layers; ++l) {
    const bool given = l < int64_t(rotated.size());
    config.rotated_layers.push_back(given ? rotated[size_t(l)] != 0 : interval <= 0 || (l + 1) % interval != 0);
  }
  config.sliding_window = parse_window(fields, config);
  const bool used = fields.boolean("use_sliding_window", false);
  parse_layer_types(fields, config, [&](int64_t layer) { return used && !config.rotates(layer); });
}

void write_smollm3(const ModelConfig& config, Json& json) {
  write_decoder(config, json);
  Json rotated = Json::array();
  for (int64_t l = 0; l < config.layers; ++l) rotated.push(Json::integer(config.rotates(l)));
  json.set("no_rope_layers", std::move(rotated));
  json.set("use_sliding_window", Json::boolean(config.sliding_window > 0));
  json.set("sliding_window", config.sliding_window ? Json::integer(config.sliding_window) : Json());
  write_layer_types(config, json);
}

}  // namespace hone::model::archs
