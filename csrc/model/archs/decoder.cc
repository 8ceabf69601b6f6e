// What the Llama-like rows share: sizes, rotary scaling and tying, in both transformers styles.
#include <algorithm>
#include <cmath>

#include "model/archs/archs.h"

namespace hone::model {
namespace {

/// Yarn's attention factor where a file gives mscale instead of the factor itself.
/// Source: transformers, modeling_rope_utils.
double yarn_attention_factor(ConfigFields& fields, double factor) {
  const double given = fields.number("attention_factor", 0.0);
  const double mscale = fields.number("mscale", 0.0), all_dim = fields.number("mscale_all_dim", 0.0);
  if (given > 0.0 || mscale == 0.0 || all_dim == 0.0) return given;
  const auto scale = [factor](double m) { return factor <= 1.0 ? 1.0 : 0.1 * m * std::log(factor) + 1.0; };
  return scale(mscale) / scale(all_dim);
}

void parse_rope(const Json& json, const std::string& where, ModelConfig& config) {
  ConfigFields fields(json, where);
  RopeConfig& rope = config.rope;
  rope.theta = fields.number("rope_theta", rope.theta);
  std::string type = fields.text("rope_type");
  const std::string old_name = fields.text("type");
  if (type.empty()) type = old_name.empty() ? "default" : old_name;
  fields.only("partial_rotary_factor", 1.0);
  if (type == "default") return fields.finish({});
  rope.factor = fields.number("factor", 1.0);
  if (type == "linear") {
    rope.kind = RopeConfig::Kind::kLinear;
    return fields.finish({});
  }
  rope.original_max_positions = fields.integer("original_max_position_embeddings", config.max_positions);
  if (type == "llama3") {
    rope.kind = RopeConfig::Kind::kLlama3;
    rope.low_freq_factor = fields.number("low_freq_factor", 1.0);
    rope.high_freq_factor = fields.number("high_freq_factor", 4.0);
  } else if (type == "yarn") {
    rope.kind = RopeConfig::Kind::kYarn;
    rope.beta_fast = fields.number("beta_fast", 32.0);
    rope.beta_slow = fields.number("beta_slow", 1.0);
    rope.yarn_truncate = fields.boolean("truncate", true);
    rope.attention_factor = yarn_attention_factor(fields, rope.factor);
  } else {
    fail(Code::kUnsupported, "%s: rope_type is \"%s\"; supported: default, linear, llama3, yarn.", where.c_str(),
         type.c_str());
  }
  fields.finish({});
}

const char* rope_type(RopeConfig::Kind kind) {
  switch (kind) {
    case RopeConfig::Kind::kLinear: return "linear";
    case RopeConfig::Kind::kLlama3: return "llama3";
    case RopeConfig::Kind::kYarn: return "yarn";
    case RopeConfig::Kind::kDefault: break;
  }
  return "default";
}

Json write_rope(const RopeConfig& rope) {
  Json json = Json::object();
  json.set("rope_type", Json::string(rope_type(rope.kind)));
  json.set("rope_theta", Json::number(rope.theta));
  if (rope.kind == RopeConfig::Kind::kDefault) return json;
  json.set("factor", Json::number(rope.factor));
  if (rope.kind == RopeConfig::Kind::kLinear) return json;
  json.set("original_max_position_embeddings", Json::integer(rope.original_max_positions));
  if (rope.kind == RopeConfig::Kind::kLlama3) {
    json.set("low_freq_factor", Json::number(rope.low_freq_factor));
    json.set("high_freq_factor", Json::number(rope.high_freq_factor));
    return json;
  }
  json.set("beta_fast", Json::number(rope.beta_fast));
  json.set("beta_slow", Json::number(rope.beta_slow));
  json.set("truncate", Json::boolean(rope.yarn_truncate));
  if (rope.attention_factor > 0) json.set("attention_factor", Json::number(rope.attention_factor));
  return json;
}

}  // namespace

void parse_decoder(ConfigFields& fields, ModelConfig& config) {
  config.vocabulary = fields.integer("vocab_size");
  config.width = fields.integer("hidden_size");
  config.layers = fields.integer("num_hidden_layers");
  config.heads = fields.integer("num_attention_heads");
  config.kv_heads = fields.integer("num_key_value_heads", config.heads);
  config.head_dim = fields.integer("head_dim", config.heads > 0 ? config.width / config.heads : 0);
  config.mlp_width = fields.integer("intermediate_size");
  config.max_positions = fields.integer("max_position_embeddings", 2048);
  config.norm_eps = static_cast<float>(fields.number("rms_norm_eps", 1e-6));
  config.tied_head = fields.boolean("tie_word_embeddings", false);
  fields.only("hidden_act", {"silu", "swish"});
  fields.only("partial_rotary_factor", 1.0);
  config.rope.theta = fields.number("rope_theta", 10000.0);
  for (const char* name : {"rope_scaling", "rope_parameters"}) {
    if (const Json* rope = fields.value(name)) parse_rope(*rope, fields.path(name), config);
  }
}

int32_t parse_window(ConfigFields& fields) {
  const int64_t window = fields.integer("sliding_window", 0);
  if (window >= 0 && window <= INT32_MAX) return int32_t(window);
  fail(Code::kConfig, "%s is %lld; it must be in [0, %d].", fields.path("sliding_window").c_str(), (long long)window, INT32_MAX);
}

void parse_qwen_window(ConfigFields& fields, ModelConfig& config) {
  const int32_t window = parse_window(fields);
  const bool used = fields.boolean("use_sliding_window", false);
  const int64_t first = fields.integer("max_window_layers", config.layers);
  int64_t sliding = used && window > 0 ? std::max<int64_t>(0, config.layers - first) : 0;
  if (const Json* types = fields.value("layer_types")) {
    sliding = 0;
    const std::string where = fields.path("layer_types");
    for (const Json& type : types->items(where.c_str())) {
      if (type.as_string(where.c_str()) == "sliding_attention") ++sliding;
      else if (type.as_string(where.c_str()) != "full_attention") {
        fail(Code::kUnsupported, "%s has \"%s\"; supported: full_attention, sliding_attention.", where.c_str(),
             type.as_string(where.c_str()).c_str());
      }
    }
  }
  if (sliding != 0 && sliding != config.layers) {
    fail(Code::kUnsupported, "%s: %lld of %lld layers use a sliding window; only all or none is supported.",
         fields.where().c_str(), (long long)sliding, (long long)config.layers);
  }
  config.sliding_window = sliding ? window : 0;
}

void write_decoder(const ModelConfig& config, Json& json) {
  json.set("vocab_size", Json::integer(config.vocabulary));
  json.set("hidden_size", Json::integer(config.width));
  json.set("num_hidden_layers", Json::integer(config.layers));
  json.set("num_attention_heads", Json::integer(config.heads));
  json.set("num_key_value_heads", Json::integer(config.kv_heads));
  json.set("head_dim", Json::integer(config.head_dim));
  json.set("intermediate_size", Json::integer(config.mlp_width));
  json.set("max_position_embeddings", Json::integer(config.max_positions));
  json.set("rms_norm_eps", Json::number(config.norm_eps));
  json.set("tie_word_embeddings", Json::boolean(config.tied_head));
  json.set("hidden_act", Json::string("silu"));
  json.set("rope_parameters", write_rope(config.rope));
}

void write_window(const ModelConfig& config, Json& json) {
  json.set("use_sliding_window", Json::boolean(config.sliding_window > 0));
  json.set("sliding_window", config.sliding_window ? Json::integer(config.sliding_window) : Json());
  json.set("max_window_layers", Json::integer(config.sliding_window ? 0 : config.layers));
}

}  // namespace hone::model
