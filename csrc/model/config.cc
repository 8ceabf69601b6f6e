#include "model/config.h"

#include "model/archs/archs.h"

namespace hone::model {
namespace {

void positive(const char* field, int64_t value) {
  if (value <= 0) fail(Code::kConfig, "model: %s is %lld; it must be at least 1.", field, (long long)value);
}

void check_rope(const RopeConfig& rope) {
  if (!(rope.theta > 1.0)) fail(Code::kConfig, "model: rope theta is %g; it must be above 1.", rope.theta);
  if (!(rope.factor >= 1.0)) fail(Code::kConfig, "model: rope factor is %g; it must be at least 1.", rope.factor);
  const bool scaled = rope.kind == RopeConfig::Kind::kLlama3 || rope.kind == RopeConfig::Kind::kYarn;
  if (scaled) positive("rope original_max_position_embeddings", rope.original_max_positions);
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
  positive("vocab_size", vocabulary);
  positive("hidden_size", width);
  positive("num_hidden_layers", layers);
  positive("num_attention_heads", heads);
  positive("num_key_value_heads", kv_heads);
  positive("head_dim", head_dim);
  positive("intermediate_size", mlp_width);
  positive("max_position_embeddings", max_positions);
  if (heads % kv_heads != 0) {
    fail(Code::kConfig, "model: num_attention_heads is %lld; it must be a multiple of num_key_value_heads %lld.",
         (long long)heads, (long long)kv_heads);
  }
  if (head_dim % 2 != 0) {
    fail(Code::kConfig, "model: head_dim is %lld; rotary embedding needs an even one.", (long long)head_dim);
  }
  if (vocabulary > INT32_MAX) fail(Code::kConfig, "model: vocab_size is %lld; token ids are 32-bit.", (long long)vocabulary);
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
