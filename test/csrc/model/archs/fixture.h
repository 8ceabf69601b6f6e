// A small config.json for any model_type, in which one field can be changed.
#pragma once

#include <string>

#include "check.h"
#include "model/archs/archs.h"
#include "model/parameters.h"

namespace hone::test {

/// A Llama-like config in which `field` has the JSON text `value`, or is removed if value is null.
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
/// The config.json that the core writes for `config`.
inline Json written(const model::ModelConfig& config) { return Json::parse(model::to_hf_config(config).dump(), "written"); }

}  // namespace hone::test
