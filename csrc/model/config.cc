#include "model/config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "model/archs/archs.h"
#include "model/known_fields.h"

namespace hone::model {
namespace {

/// Checks rules; each broken rule becomes a kConfig problem.
class Rules {
 public:
  explicit Rules(ConfigProblems& problems) : problems_(problems) {}
  bool positive(const char* field, int64_t value, int64_t most) {
    return require(value >= 1 && value <= most, "model: %s is %lld; it must be in [1, %lld].", field, (long long)value, (long long)most);
  }
  template <class... Values>
  bool require(bool holds, const char* format, Values... values) {
    if (holds) return true;
    char text[256];
    std::snprintf(text, sizeof text, format, values...);
    problems_.add(Code::kConfig, text);
    return false;
  }

 private:
  ConfigProblems& problems_;
};

/// Limits each size, so that no product of sizes overflows when bytes are counted.
bool check_sizes(const ModelConfig& c, Rules& rules) {
  constexpr int64_t kMost = int64_t(1) << 24;
  const std::pair<const char*, int64_t> sizes[] = {
      {"vocab_size", c.vocabulary}, {"hidden_size", c.width},
      {"num_attention_heads", c.heads}, {"num_key_value_heads", c.kv_heads}, {"head_dim", c.head_dim},
      {"intermediate_size", c.mlp_width}};
  bool fit = rules.positive("max_position_embeddings", c.max_positions, INT32_MAX);
  fit = rules.positive("num_hidden_layers", c.layers, kMostLayers) && fit;
  for (const auto& [field, size] : sizes) fit = rules.positive(field, size, kMost) && fit;
  if (!fit) return false;
  const double head_dim = double(std::max(c.head_dim, c.full_head_dim)), kv_heads = double(std::max(c.kv_heads, c.full_kv_heads));
  const double width = double(c.width), attention = (2.0 * double(c.heads) + 2.0 * kv_heads) * head_dim;
  const ExpertsConfig& of = c.experts;
  const std::pair<const char*, int64_t> counts[] = {{"num_experts", of.count}, {"moe_intermediate_size", of.width}, {"the shared experts' width", of.shared_width}};
  for (const auto& [field, size] : counts) {
    if (!rules.require(size >= 0 && size <= kMost, "model: %s is %lld; it must be in [0, %lld].", field, (long long)size, (long long)kMost)) return false;
  }
  const double mlps = double(c.mlp_width) + double(of.shared_width) + double(of.count) * (double(of.width) + 1);
  const double weights = 2 * double(c.vocabulary) * width + double(c.layers) * width * (attention + 3 * mlps);
  const double angles = double(c.max_positions) * head_dim;
  return rules.require(weights < 0x1p44 && angles < 0x1p44,
                       "model: its sizes make %.3g weights and %.3g rotary angles; neither may reach 2^44.", weights, angles);
}

void check_rope(const ModelConfig& c, Rules& rules) {
  using Kind = RopeConfig::Kind;
  const RopeConfig& rope = c.rope;
  rules.require(rope.theta > 1.0, "model: rope theta is %g; it must be above 1.", rope.theta);
  rules.require(rope.factor >= 1.0, "model: rope factor is %g; it must be at least 1.", rope.factor);
  rules.require(rope.partial > 0.0 && rope.partial <= 1.0 && c.rotary_dim() >= 2 && c.rotary_dim() % 2 == 0,
                "model: partial_rotary_factor %g of head_dim %lld must be an even number of dimensions.", rope.partial, (long long)c.head_dim);
  if (rope.kind == Kind::kLlama3 || rope.kind == Kind::kYarn || rope.kind == Kind::kLongrope) {
    rules.positive("rope original_max_position_embeddings", rope.original_max_positions, INT32_MAX);
  }
  if (rope.kind == Kind::kLlama3) {
    rules.require(rope.high_freq_factor > rope.low_freq_factor, "model: rope high_freq_factor is %g; it must be above low_freq_factor %g.",
                  rope.high_freq_factor, rope.low_freq_factor);
  }
  if (rope.kind == Kind::kYarn) {
    rules.require(rope.beta_fast > rope.beta_slow && rope.beta_slow > 0,
                  "model: rope beta_fast %g and beta_slow %g must satisfy beta_fast > beta_slow > 0.", rope.beta_fast, rope.beta_slow);
  }
  if (rope.kind == Kind::kLongrope) {
    const auto& factors = rope.extended ? rope.long_factor : rope.short_factor;
    const bool positive = std::all_of(factors.begin(), factors.end(), [](double f) { return f > 0; });
    rules.require(positive && int64_t(factors.size()) == c.rotary_dim() / 2,
                  "model: rope %s_factor has %zu numbers; it must have %lld, all above 0.", rope.extended ? "long" : "short",
                  factors.size(), (long long)(c.rotary_dim() / 2));
  }
}

void check_scales(const ModelConfig& c, Rules& rules) {
  const std::pair<const char*, double> scales[] = {
      {"embedding scale", c.embedding_scale}, {"residual scale", c.residual_scale}, {"logits_scaling", c.logits_scaling}};
  for (const auto& [name, scale] : scales) {
    rules.require(std::isfinite(scale) && scale != 0.0, "model: %s is %g; it must be finite and not 0.", name, scale);
  }
  const Multipliers& m = c.multipliers;
  std::vector<double> factors{m.attention_in, m.key, m.attention_out, m.linear_in, m.linear_out, m.gate, m.down};
  factors.insert(factors.end(), m.linear.begin(), m.linear.end());
  for (const double factor : factors) rules.require(std::isfinite(factor), "model: a multiplier inside its layers is %g; it must be finite.", factor);
  rules.require(c.attention_multiplier >= 0.0 && std::isfinite(c.attention_multiplier), "model: the scale of attention is %g; it must be above 0.",
                c.attention_multiplier);
  rules.require(c.query_scalar >= 0.0 && std::isfinite(c.query_scalar), "model: the scalar that divides queries is %g; it must be above 0.",
                c.query_scalar);
  rules.require(c.attention_softcap >= 0.0f && c.logit_softcap >= 0.0f, "model: soft caps are %g and %g; they must be above 0, or null.",
                double(c.attention_softcap), double(c.logit_softcap));
}

void check_layers(const ModelConfig& c, Rules& rules) {
  for (const auto& [name, flags] : {std::pair{"sliding", &c.sliding_layers}, {"rotated", &c.rotated_layers}, {"linear", &c.linear_layers}, {"MLP", &c.mlp_layers}, {"sparse", &c.experts.layers}}) {
    rules.require(flags->empty() || int64_t(flags->size()) == c.layers, "model: its list of %s layers has %zu entries for %lld layers.", name,
                  flags->size(), (long long)c.layers);
  }
}

/// Names in config.json of a linear layer's sizes: key heads, value heads, key dim, value dim, taps.
using LinearFields = std::array<const char*, 5>;
constexpr LinearFields kDelta{"linear_num_key_heads", "linear_num_value_heads", "linear_key_head_dim", "linear_value_head_dim", "linear_conv_kernel_dim"};
constexpr LinearFields kMamba{"mamba_n_groups", "mamba_n_heads", "mamba_d_state", "mamba_d_head", "mamba_d_conv"};

/// Limits each size, so that the size of a sequence's state cannot overflow.
bool check_linear_layers(const ModelConfig& c, Rules& rules) {
  if (!c.is_hybrid()) return true;
  constexpr int64_t kMost = int64_t(1) << 14;
  const kernels::DeltaSizes& s = c.delta;
  const LinearFields& names = s.mamba ? kMamba : kDelta;
  const int64_t sizes[] = {s.key_heads, s.value_heads, s.key_dim, s.value_dim};
  const bool convolution = s.is_convolution() && c.arch.starts_with("lfm2");
  bool fit = rules.positive(convolution ? "conv_L_cache" : names[4], s.taps, kernels::kMostTaps);
  for (size_t i = 0; i < std::size(sizes); ++i) fit = (convolution || rules.positive(names[i], sizes[i], kMost)) && fit;
  fit = rules.require(c.attention_layers() > 0, "model: none of its %lld layers is one of attention; one at least must be.", (long long)c.layers) && fit;
  fit = rules.require(c.steps.least >= 0.0 && c.steps.most > c.steps.least, "model: time_step_limit is [%g, %g]; it must be an interval above 0.", c.steps.least, c.steps.most) && fit;
  return fit && (convolution || rules.require(s.value_heads % s.key_heads == 0, "model: %s is %lld; it must be a multiple of %s %lld.", names[1],
                              (long long)s.value_heads, names[0], (long long)s.key_heads));
}

void check_experts(const ModelConfig& c, Rules& rules) {
  const ExpertsConfig& e = c.experts;
  if (e.count == 0) return;
  rules.require(e.width >= 1, "model: moe_intermediate_size is %lld; it must be at least 1.", (long long)e.width);
  rules.require(std::isfinite(e.scaling) && e.scaling > 0.0, "model: routed_scaling_factor is %g; it must be above 0.", e.scaling);
  const bool grouped = rules.require(e.groups >= 1 && e.count % e.groups == 0 && (e.groups == 1 || e.count / e.groups >= 2),
                                     "model: n_group is %lld; it must divide the %lld experts into groups of two at least.", (long long)e.groups, (long long)e.count);
  if (!grouped || !rules.require(e.chosen_groups >= 1 && e.chosen_groups <= e.groups, "model: topk_group is %lld; it must be in [1, %lld].", (long long)e.chosen_groups, (long long)e.groups)) return;
  const int64_t most = e.count / e.groups * e.chosen_groups;
  rules.require(e.chosen >= 1 && e.chosen <= most, "model: num_experts_per_tok is %lld; it must be in [1, %lld].", (long long)e.chosen, (long long)most);
}

void check_all(const ModelConfig& c, ConfigProblems& problems) {
  Rules rules(problems);
  if (!check_sizes(c, rules) || !check_linear_layers(c, rules)) return;
  rules.require(c.heads % c.kv_heads == 0, "model: num_attention_heads is %lld; it must be a multiple of num_key_value_heads %lld.",
                (long long)c.heads, (long long)c.kv_heads);
  rules.require(c.full_head_dim >= 0 && c.full_head_dim <= (int64_t(1) << 24) && c.full_head_dim % 2 == 0, "model: global_head_dim is %lld; it must be even and positive.", (long long)c.full_head_dim);
  rules.require(c.full_head_dim <= 0 || (c.full_kv_heads > 0 && c.heads % c.full_kv_heads == 0), "model: num_attention_heads is %lld; it must be a multiple of num_global_key_value_heads %lld.",
                (long long)c.heads, (long long)c.full_kv_heads);
  rules.require(c.head_dim % 2 == 0, "model: head_dim is %lld; rotary embedding needs an even one.", (long long)c.head_dim);
  rules.require(c.norm_eps >= std::numeric_limits<float>::min() && c.norm_eps <= 1.0f,
                "model: rms_norm_eps is %g; it must be a normal float above 0, at most 1.", double(c.norm_eps));
  rules.require(c.sliding_window >= 0, "model: sliding_window is %d; 0 means none.", c.sliding_window);
  rules.require(!c.parallel || !c.adds_apart(), "model: attention and MLP are parallel; their outputs can be neither normed nor scaled.");
  check_scales(c, rules);
  check_layers(c, rules);
  check_experts(c, rules);
  check_rope(c, rules);
}

/// Whether every number could be read; otherwise rules about missing numbers would only repeat the problem.
bool all_read(const ConfigProblems& problems) {
  return std::all_of(problems.found.begin(), problems.found.end(), [](const auto& p) { return p.code == Code::kUnsupported; });
}

}  // namespace

int64_t ModelConfig::rotary_dim() const {
  const int64_t dim = full_head_dim > 0 ? full_head_dim : head_dim;
  return rope.kind == RopeConfig::Kind::kProportional ? dim : int64_t(double(dim) * rope.partial);
}

int64_t ModelConfig::attention_layers() const {
  int64_t count = 0;
  for (int64_t l = 0; l < layers; ++l) count += attends(l);
  return count;
}

int64_t ModelConfig::state_floats() const { return std::count(linear_layers.begin(), linear_layers.end(), true) * delta.state_floats(); }

int64_t ModelConfig::index_in_kind(int64_t layer) const {
  if (!is_hybrid()) return layer;
  int64_t earlier = 0;
  for (int64_t l = 0; l < layer; ++l) earlier += mixes_tokens(l) && is_linear(l) == is_linear(layer);
  return earlier;
}

int64_t ModelConfig::in_width(int64_t layer) const {
  if (!attends(layer)) return is_linear(layer) ? delta.inputs() : 0;
  return qkv_width(layer) + (gated_attention ? q_width() : 0) - (keys_are_values(layer) ? kv_width(layer) : 0) + (has_beside(layer) ? delta.inputs() : 0);
}

bool ModelConfig::mixes_in_part() const {
  return mixes() && std::count(experts.layers.begin(), experts.layers.end(), false) > 0;
}

int64_t ModelConfig::widest_mlp() const {
  const int64_t dense = !mixes() || mixes_in_part() ? mlp_width : 0;
  return std::max(dense, experts.shared_width);
}

void ModelConfig::check() const {
  find_architecture(arch, "model");
  ConfigProblems problems;
  check_all(*this, problems);
  problems.raise();
}

namespace {

/// Ignores most of quantization_config, since the weight files themselves show which tensors are quantized;
/// model/stored_weights.h reads them.
void parse_quantization(ConfigFields& fields) {
  const Json* given = fields.value("quantization_config");
  if (!given) return;
  const Json* method = given->kind() == Json::Kind::kObject ? given->find("quant_method") : nullptr;
  for (const char* known : {"\"mxfp4\"", "\"fp8\""}) {
    if (method && method->dump() == known) return;
  }
  fields.problem(Code::kUnsupported, fields.path("quantization_config") + " = " + given->dump() +
                                         " means quantized weights of a kind that is not read (mxfp4 and fp8 are); take the model in bf16.");
}

}  // namespace

ModelConfig parse_text_model(const Json& json, const std::string& where, ConfigProblems& problems) {
  ConfigFields fields(json, where, &problems);
  const std::string type = fields.text("model_type"), experts = experts_of(json);
  if (type.empty()) fail(Code::kConfig, "%s: model_type is missing.", where.c_str());
  if (!experts.empty()) fail(Code::kUnsupported, "%s: %s", where.c_str(), experts.c_str());
  const Architecture& row = find_architecture(type, where.c_str());
  ModelConfig config;
  config.arch = type;
  config.norm_eps = 1e-6f;  // the default
  try {
    parse_quantization(fields);
    row.parse(fields, config);
  } catch (const Error& error) {  // a part was not an object or a list
    problems.add(error.code(), error.what());
  }
  judge_unread(fields, problems);
  return config;
}

ModelConfig parse_hf_config(const Json& json, const char* where, ConfigReading* reading) {
  ConfigProblems problems;
  const ModelConfig config = parse_text_model(json, where, problems);
  if (all_read(problems)) check_all(config, problems);
  if (reading && reading->strict) {
    for (const std::string& field : problems.unknown) {
      problems.add(Code::kUnsupported, field + " is not understood and may change the result. Remove it if it does not.");
    }
  } else if (reading) {
    reading->warnings = problems.unknown;
  }
  problems.raise();
  return config;
}

Json to_hf_config(const ModelConfig& config) {
  config.check();
  const Architecture& row = find_architecture(config.arch, "model");
  if (!row.write) fail(Code::kInternal, "model: \"%s\" is a wrapper; its text model is what is saved.", row.name);
  Json json = Json::object();
  json.set("model_type", Json::string(row.name));
  Json classes = Json::array();
  classes.push(Json::string(row.causal_class));
  json.set("architectures", std::move(classes));
  json.set("dtype", Json::string("float32"));
  row.write(config, json);
  return json;
}

}  // namespace hone::model
