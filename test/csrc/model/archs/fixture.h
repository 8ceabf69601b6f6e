// A small config.json of any model_type, one field changed at a time.
#pragma once

#include <string>

#include "check.h"
#include "model/archs/archs.h"
#include "model/parameters.h"

namespace hone::test {

/// A llama-shaped config with `field` set to the JSON text `value`, or removed when value is null.
inline Json hf_config(const char* type, const char* field = nullptr, const char* value = nullptr) {
  Json base = Json::parse(R"({"vocab_size": 100, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "intermediate_size": 64, "max_position_embeddings": 128, "rms_norm_eps": 1e-5,
    "rope_theta": 5000.0, "hidden_act": "silu", "use_cache": true})", "test");
  base.set("model_type", Json::string(type));
  if (!field) return base;
  Json changed = Json::object();
  for (const auto& [name, old] : base.members("test")) {
    if (name != field) changed.set(name, old);
  }
  if (value) changed.set(field, Json::parse(value, "test"));
  return changed;
}
inline model::ModelConfig parse(const Json& json) { return model::parse_hf_config(json, "config.json"); }
inline model::ModelConfig parse(const char* type, const char* field, const char* value) {
  return parse(hf_config(type, field, value));
}
/// What transformers reads after the core wrote it.
inline Json written(const model::ModelConfig& config) { return Json::parse(model::to_hf_config(config).dump(), "written"); }

}  // namespace hone::test
