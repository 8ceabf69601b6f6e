// Parsing and writing that Llama-like architectures share: sizes, rotary scaling and weight tying, in both
// transformers styles.
#include <algorithm>
#include <cmath>

#include "model/archs/archs.h"
#include "model/known_fields.h"

namespace hone::model {
namespace {

/// Yarn's attention factor, also if a file gives mscale instead of the factor itself. Source: transformers,
/// modeling_rope_utils.
double yarn_attention_factor(ConfigFields& fields, double factor) {
  const double given = fields.number("attention_factor", 0.0);
  const double mscale = fields.number("mscale", 0.0), all_dim = fields.number("mscale_all_dim", 0.0);
  if (given > 0.0 || mscale == 0.0 || all_dim == 0.0) return given;
  const auto scale = [factor](double m) { return factor <= 1.0 ? 1.0 : 0.1 * m * std::log(factor) + 1.0; };
  return scale(mscale) / scale(all_dim);
}

void parse_llama3(ConfigFields& fields, RopeConfig& rope) {
  rope.kind = RopeConfig::Kind::kLlama3;
  rope.low_freq_factor = fields.number("low_freq_factor", 1.0);
  rope.high_freq_factor = fields.number("high_freq_factor", 4.0);
}

void parse_yarn(ConfigFields& fields, RopeConfig& rope) {
  rope.kind = RopeConfig::Kind::kYarn;
  rope.beta_fast = fields.number("beta_fast", 32.0);
  rope.beta_slow = fields.number("beta_slow", 1.0);
  rope.yarn_truncate = fields.boolean("truncate", true);
  rope.attention_factor = yarn_attention_factor(fields, rope.factor);
  rope.query_beta = fields.number("llama_4_scaling_beta", 0.0);
  // DeepSeek-R1-0528-Qwen3-8B has this field, but transformers reads only attention_factor
  fields.ignore({"attn_factor"});
}

/// The context ends where the short factors' range ends, unless the architecture chooses the long factors
/// (phi3.cc).
void parse_longrope(ConfigFields& fields, ModelConfig& config) {
  RopeConfig& rope = config.rope;
  rope.kind = RopeConfig::Kind::kLongrope;
  rope.short_factor = fields.numbers("short_factor");
  rope.long_factor = fields.numbers("long_factor");
  const double grown = double(config.max_positions) / double(std::max<int64_t>(rope.original_max_positions, 1));
  rope.factor = std::max(1.0, fields.present("factor") ? rope.factor : grown);
  rope.attention_factor = fields.number("attention_factor", 0.0);
  rope.extended_positions = config.max_positions;
  config.max_positions = std::min(config.max_positions, rope.original_max_positions);
}

/// Types of scaling that scale no angle within max_position_embeddings; beyond it transformers' angles depend
/// on the batch.
bool is_unscaled(const std::string& type) { return type == "default" || type == "dynamic" || type == "mrope"; }

/// Parses a type of scaling that changes angles. Source: transformers, modeling_rope_utils.
void parse_scaling(ConfigFields& fields, const std::string& type, ModelConfig& config) {
  RopeConfig& rope = config.rope;
  rope.factor = fields.number("factor", 1.0);
  if (type == "linear") {
    rope.kind = RopeConfig::Kind::kLinear;
    return;
  }
  const int64_t pretrained = rope.original_max_positions ? rope.original_max_positions : config.max_positions;
  rope.original_max_positions = fields.integer("original_max_position_embeddings", pretrained);
  if (type == "longrope" || type == "su" || fields.present("short_factor")) return parse_longrope(fields, config);
  if (type == "llama3") return parse_llama3(fields, rope);
  if (type == "yarn") return parse_yarn(fields, rope);
  fields.problem(Code::kUnsupported, fields.where() + ": rope_type is \"" + type + "\"; supported: default, dynamic, linear, llama3, yarn, mrope, and longrope of phi3.");
}

void parse_rope(const Json& json, const std::string& where, ModelConfig& config, bool partial, ConfigProblems* problems);

/// The first pairs of dimensions turn, as they would if all of a head did.
void parse_proportional(ConfigFields& fields, RopeConfig& rope) {
  rope.kind = RopeConfig::Kind::kProportional;
  rope.partial = fields.number("partial_rotary_factor", 1.0);
  rope.factor = fields.number("factor", 1.0);
}

/// Dynamic scaling: only Hunyuan's base differs, from the first token on. Source: transformers,
/// HunYuanDenseV1RotaryEmbedding.
void parse_dynamic(ConfigFields& fields, ModelConfig& config) {
  fields.ignore({"factor", "original_max_position_embeddings"});
  const double alpha = config.arch == "hunyuan_v1_dense" ? fields.number("alpha", 0.0) : 0.0;
  if (alpha == 0.0) return;
  const double D = double(config.head_dim);
  config.rope.theta *= std::pow(alpha, D / std::max(D - 2.0, 1.0));
  fields.ignore({"beta_fast", "beta_slow", "mscale", "mscale_all_dim"});
}

/// Reads one rope object for full attention and one for sliding attention. Source: transformers 5,
/// Gemma3TextConfig.
void parse_rope_by_layer(ConfigFields& fields, ModelConfig& config) {
  parse_rope(*fields.value("full_attention"), fields.path("full_attention"), config, false, fields.problems());
  if (const Json* sliding = fields.value("sliding_attention")) {
    ConfigFields local(*sliding, fields.path("sliding_attention"), fields.problems());
    config.sliding_theta = local.number("rope_theta", config.sliding_theta);
    local.only("rope_type", {"default"});
    judge_unread(local, *fields.problems());
  }
  judge_unread(fields, *fields.problems());
}

void parse_rope(const Json& json, const std::string& where, ModelConfig& config, bool partial, ConfigProblems* problems) {
  ConfigFields fields(json, where, problems);
  if (fields.present("full_attention")) return parse_rope_by_layer(fields, config);
  config.rope.theta = fields.number("rope_theta", config.rope.theta);
  std::string type = fields.text("rope_type");
  const std::string old_name = fields.text("type");
  if (type.empty()) type = old_name.empty() ? "default" : old_name;
  if (partial) config.rope.partial = fields.number("partial_rotary_factor", config.rope.partial);
  if (type == "proportional" && config.arch == "gemma4_text") parse_proportional(fields, config.rope);
  else if (!is_unscaled(type)) parse_scaling(fields, type, config);
  if (type == "dynamic") parse_dynamic(fields, config);
  fields.ignore({"mrope_section", "mrope_interleaved"});  // a text token has the same position on all axes
  judge_unread(fields, *problems);
}

const char* rope_type(RopeConfig::Kind kind) {
  switch (kind) {
    case RopeConfig::Kind::kLinear: return "linear";
    case RopeConfig::Kind::kLlama3: return "llama3";
    case RopeConfig::Kind::kYarn: return "yarn";
    case RopeConfig::Kind::kLongrope: return "longrope";
    case RopeConfig::Kind::kProportional: return "proportional";
    case RopeConfig::Kind::kDefault: break;
  }
  return "default";
}

Json numbers(const std::vector<double>& values) {
  Json out = Json::array();
  for (double value : values) out.push(Json::number(value));
  return out;
}

void write_scaling(const RopeConfig& rope, Json& json) {
  if (rope.kind == RopeConfig::Kind::kLlama3) {
    json.set("low_freq_factor", Json::number(rope.low_freq_factor));
    json.set("high_freq_factor", Json::number(rope.high_freq_factor));
    return;
  }
  if (rope.kind == RopeConfig::Kind::kYarn) {
    json.set("beta_fast", Json::number(rope.beta_fast));
    json.set("beta_slow", Json::number(rope.beta_slow));
    json.set("truncate", Json::boolean(rope.yarn_truncate));
    if (rope.query_beta != 0.0) json.set("llama_4_scaling_beta", Json::number(rope.query_beta));
  } else {
    json.set("short_factor", numbers(rope.short_factor));
    json.set("long_factor", numbers(rope.long_factor));
  }
  if (rope.attention_factor > 0) json.set("attention_factor", Json::number(rope.attention_factor));
}

/// Reads the number of layers; checks its bound here, before lists with one entry per layer are allocated.
int64_t parse_layers(ConfigFields& fields, int64_t otherwise) {
  const char* field = "num_hidden_layers";
  const int64_t layers = otherwise ? fields.integer(field, otherwise) : fields.integer(field);
  if (layers >= 1 && layers <= kMostLayers) return layers;
  fields.problem(Code::kConfig, fields.path(field) + " is " + std::to_string(layers) + "; it must be in [1, " +
                                    std::to_string(kMostLayers) + "].");
  return 1;
}

Json write_rope(const RopeConfig& rope) {
  Json json = Json::object();
  json.set("rope_type", Json::string(rope_type(rope.kind)));
  json.set("rope_theta", Json::number(rope.theta));
  if (rope.partial != 1.0) json.set("partial_rotary_factor", Json::number(rope.partial));
  if (rope.kind == RopeConfig::Kind::kDefault) return json;
  json.set("factor", Json::number(rope.factor));
  if (rope.kind == RopeConfig::Kind::kLinear || rope.kind == RopeConfig::Kind::kProportional) return json;
  json.set("original_max_position_embeddings", Json::integer(rope.original_max_positions));
  write_scaling(rope, json);
  return json;
}

}  // namespace

Json decimal(double value) {
  std::string text = Json::number(value).dump();
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return Json::parse(text, "number");
}

void write_rope_by_layer(const ModelConfig& config, Json& json) {
  Json rope = Json::object(), local = Json::object();
  local.set("rope_type", Json::string("default"));
  local.set("rope_theta", Json::number(config.sliding_theta));
  rope.set("full_attention", write_rope(config.rope));
  rope.set("sliding_attention", std::move(local));
  json.set("rope_parameters", std::move(rope));
}

void parse_decoder(ConfigFields& fields, ModelConfig& config, bool partial_rotary) {
  const auto size = [&](const char* field, int64_t otherwise) {
    return otherwise ? fields.integer(field, otherwise) : fields.integer(field);
  };
  config.vocabulary = size("vocab_size", config.vocabulary);
  config.width = size("hidden_size", config.width);
  config.layers = parse_layers(fields, config.layers);
  config.heads = size("num_attention_heads", config.heads);
  config.kv_heads = fields.integer("num_key_value_heads", config.kv_heads ? config.kv_heads : config.heads);
  const int64_t even = config.heads > 0 ? config.width / config.heads : 0;
  config.head_dim = fields.integer("head_dim", config.head_dim ? config.head_dim : even);
  config.mlp_width = size("intermediate_size", config.mlp_width);
  config.max_positions = fields.integer("max_position_embeddings", config.max_positions);
  config.norm_eps = static_cast<float>(fields.number("rms_norm_eps", double(config.norm_eps)));
  config.tied_head = fields.boolean("tie_word_embeddings", config.tied_head);
  if (config.gelu) {
    fields.only("hidden_activation", {"gelu_pytorch_tanh"});
    fields.ignore({"hidden_act"});  // only in old files, where transformers reads hidden_activation instead
  } else {
    fields.only("hidden_act", {"silu", "swish"});
  }
  config.rope.theta = fields.number("rope_theta", config.rope.theta);
  for (const char* name : {"rope_scaling", "rope_parameters"}) {
    if (const Json* rope = fields.value(name)) parse_rope(*rope, fields.path(name), config, partial_rotary, fields.problems());
  }
}

int32_t parse_window(ConfigFields& fields, const ModelConfig& config) {
  const bool given = fields.present("sliding_window");
  const int64_t window = fields.integer("sliding_window", given ? 0 : config.sliding_window);
  if (window >= 0 && window <= INT32_MAX) return int32_t(window);
  fields.problem(Code::kConfig, fields.path("sliding_window") + " is " + std::to_string(window) + "; it must be in [0, 2147483647].");
  return 0;
}

void parse_layer_types(ConfigFields& fields, ModelConfig& config, const std::function<bool(int64_t layer)>& slides) {
  const std::vector<std::string> types = fields.texts("layer_types");
  std::vector<bool> sliding;
  for (int64_t l = 0; l < config.layers && types.empty(); ++l) sliding.push_back(slides(l));
  for (const std::string& type : types) {
    sliding.push_back(type == "sliding_attention");
    if (sliding.back() || type == "full_attention") continue;
    return fields.problem(Code::kUnsupported, fields.path("layer_types") + " has \"" + type + "\"; supported: full_attention, sliding_attention.");
  }
  const int64_t count = std::count(sliding.begin(), sliding.end(), true);
  if (count == 0) config.sliding_window = 0;
  if (count != 0 && count != int64_t(sliding.size())) config.sliding_layers = sliding;
}

void parse_qwen_window(ConfigFields& fields, ModelConfig& config) {
  const int32_t window = parse_window(fields, config);
  const bool used = fields.boolean("use_sliding_window", false);
  config.sliding_window = used ? window : 0;
  const int64_t first = fields.integer("max_window_layers", config.layers);
  parse_layer_types(fields, config, [&](int64_t layer) { return used && layer >= first; });
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
  json.set(config.gelu ? "hidden_activation" : "hidden_act", Json::string(config.gelu ? "gelu_pytorch_tanh" : "silu"));
  json.set("rope_parameters", write_rope(config.rope));
}

void write_window(const ModelConfig& config, Json& json) {
  json.set("use_sliding_window", Json::boolean(config.sliding_window > 0));
  json.set("sliding_window", config.sliding_window ? Json::integer(config.sliding_window) : Json());
  json.set("max_window_layers", Json::integer(config.sliding_window ? 0 : config.layers));
  if (!config.sliding_layers.empty()) write_layer_types(config, json);
}

void write_layer_types(const ModelConfig& config, Json& json) {
  Json types = Json::array();
  for (int64_t l = 0; l < config.layers; ++l) types.push(Json::string(config.slides(l) ? "sliding_attention" : "full_attention"));
  json.set("layer_types", std::move(types));
}

}  // namespace hone::model
