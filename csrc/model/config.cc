#include "model/config.h"

#include "model/archs/archs.h"

namespace hone::model {
namespace {

void positive(const char* field, int64_t value, int64_t most) {
  if (value >= 1 && value <= most) return;
  fail(Code::kConfig, "model: %s is %lld; it must be in [1, %lld].", field, (long long)value, (long long)most);
}

/// So that no product of sizes overflows where bytes are counted.
void check_sizes(const ModelConfig& c) {
  constexpr int64_t kMost = int64_t(1) << 24;
  positive("vocab_size", c.vocabulary, kMost);
  positive("hidden_size", c.width, kMost);
  positive("num_hidden_layers", c.layers, kMost);
  positive("num_attention_heads", c.heads, kMost);
  positive("num_key_value_heads", c.kv_heads, kMost);
  positive("head_dim", c.head_dim, kMost);
  positive("intermediate_size", c.mlp_width, kMost);
  positive("max_position_embeddings", c.max_positions, INT32_MAX);
  const double width = double(c.width), attention = double(2 * c.heads + 2 * c.kv_heads) * double(c.head_dim);
  const double weights = 2 * double(c.vocabulary) * width + double(c.layers) * width * (attention + 3 * double(c.mlp_width));
  const double angles = double(c.max_positions) * double(c.head_dim);
  if (weights < 0x1p44 && angles < 0x1p44) return;
  fail(Code::kConfig, "model: its sizes make %.3g weights and %.3g rotary angles; neither may reach 2^44.", weights, angles);
}

void check_rope(const RopeConfig& rope) {
  if (!(rope.theta > 1.0)) fail(Code::kConfig, "model: rope theta is %g; it must be above 1.", rope.theta);
  if (!(rope.factor >= 1.0)) fail(Code::kConfig, "model: rope factor is %g; it must be at least 1.", rope.factor);
  const bool scaled = rope.kind == RopeConfig::Kind::kLlama3 || rope.kind == RopeConfig::Kind::kYarn;
  if (scaled) positive("rope original_max_position_embeddings", rope.original_max_positions, INT32_MAX);
  if (rope.kind == RopeConfig::Kind::kLlama3 && !(rope.high_freq_factor > rope.low_freq_factor)) {
    fail(Code::kConfig, "model: rope high_freq_factor is %g; it must be above low_freq_factor %g.",
         rope.high_freq_factor, rope.low_freq_factor);
  }
  if (rope.kind == RopeConfig::Kind::kYarn && !(rope.beta_fast > rope.beta_slow && rope.beta_slow > 0)) {
    fail(Code::kConfig, "model: rope beta_fast %g and beta_slow %g must satisfy beta_fast > beta_slow > 0.",
         rope.beta_fast, rope.beta_slow);
  }
}

}  // namespace

void ModelConfig::check() const {
  find_architecture(arch, "model");
  check_sizes(*this);
  if (heads % kv_heads != 0) {
    fail(Code::kConfig, "model: num_attention_heads is %lld; it must be a multiple of num_key_value_heads %lld.",
         (long long)heads, (long long)kv_heads);
  }
  if (head_dim % 2 != 0) {
    fail(Code::kConfig, "model: head_dim is %lld; rotary embedding needs an even one.", (long long)head_dim);
  }
  if (!(norm_eps >= 0.0f)) fail(Code::kConfig, "model: rms_norm_eps is %g; it must not be negative.", double(norm_eps));
  if (sliding_window < 0) fail(Code::kConfig, "model: sliding_window is %d; 0 means none.", sliding_window);
  check_rope(rope);
}

ModelConfig parse_hf_config(const Json& json, const char* where) {
  ConfigFields fields(json, where);
  const std::string type = fields.text("model_type");
  if (type.empty()) fail(Code::kConfig, "%s: model_type is missing.", where);
  ModelConfig config;
  config.arch = type;
  find_architecture(type, where).parse(fields, config);
  // None of these reaches a logit: names, special token ids, training-time noise and how the file is stored.
  fields.finish({"architectures", "attention_dropout", "bos_token_id", "dtype", "eos_token_id", "id2label",
                 "initializer_range", "label2id", "output_attentions", "output_hidden_states", "pad_token_id",
                 "pretraining_tp", "return_dict", "torch_dtype", "transformers_version", "use_cache",
                 "_name_or_path", "auto_map", "unsloth_version", "name_or_path", "chunk_size_feed_forward",
                 "is_encoder_decoder", "problem_type"});
  config.check();
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
