// EXAONE-4: norms after attention and MLP, q and k normed per head; in models with sliding windows, only
// layers with a window have rotary embedding.
#include "model/archs/archs.h"

namespace hone::model::archs {
namespace {

/// Reads n, where every n-th layer has no window: a number, or the length of a text such as "LLLG"; 0: no
/// layer has a window.
int64_t parse_pattern(ConfigFields& fields) {
  const Json* pattern = fields.value("sliding_window_pattern");
  if (!pattern) return fields.present("sliding_window_pattern") ? 0 : 4;
  if (pattern->kind() == Json::Kind::kString) return int64_t(pattern->as_string("sliding_window_pattern").size());
  return fields.integer("sliding_window_pattern", 4);
}

}  // namespace

void parse_exaone4(ConfigFields& fields, ModelConfig& config) {
  config.norm_eps = 1e-5f;
  config.norms = ModelConfig::Norms::kAfter;
  config.qk_norm = true;
  config.sliding_window = 4096;
  parse_decoder(fields, config);
  config.sliding_window = parse_window(fields, config);
  const bool windows = config.sliding_window > 0;
  const int64_t pattern = parse_pattern(fields);
  parse_layer_types(fields, config, [&](int64_t layer) { return windows && pattern > 0 && (layer + 1) % pattern != 0; });
  if (!windows) return;
  if (config.sliding_window == 0) {
    fields.problem(Code::kUnsupported, fields.path("sliding_window") + " is set, but no layer of layer_types slides: none would have positions.");
  }
  for (int64_t l = 0; l < config.layers; ++l) config.rotated_layers.push_back(config.slides(l));
}

void write_exaone4(const ModelConfig& config, Json& json) {
  write_decoder(config, json);
  json.set("sliding_window", config.sliding_window ? Json::integer(config.sliding_window) : Json());
  json.set("sliding_window_pattern", Json::integer(config.sliding_window ? 4 : 0));
  write_layer_types(config, json);
}

}  // namespace hone::model::archs
