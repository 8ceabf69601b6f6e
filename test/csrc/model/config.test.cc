// config.json as a whole: what is refused, round trips, golden files. test/csrc/model/archs tests each
// architecture. Faults put into the code: heads not a multiple of kv heads accepted, rope dropped when
// writing. Each is detected.
#include "model/config.h"

#include "check.h"
#include "model/goldens.h"

namespace model_config_test {
namespace {

using namespace hone;
using model::ModelConfig;
using model::RopeConfig;

/// A small Llama config with one field replaced or added; with "" as value nothing is removed.
Json config_with(const char* field = nullptr, const char* value = nullptr) {
  Json json = Json::parse(R"({"model_type": "llama", "vocab_size": 100, "hidden_size": 32, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 64, "max_position_embeddings": 128,
    "rms_norm_eps": 1e-5, "rope_theta": 5000.0, "hidden_act": "silu", "use_cache": true})", "test");
  if (!field) return json;
  Json changed = Json::object();
  for (const auto& [name, old] : json.members("test")) {
    if (name != field) changed.set(name, old);
  }
  if (value) changed.set(field, Json::parse(value, "test"));
  return changed;
}
ModelConfig parse(const Json& json) { return model::parse_hf_config(json, "config.json"); }
std::string message(const Json& json) {
  try {
    parse(json);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(fields_that_change_numbers_are_refused_by_name) {
  const struct { const char *field, *value; Code code; } cases[] = {
      {"attention_bias", "true", Code::kUnsupported},
      {"mlp_bias", "true", Code::kUnsupported},
      {"hidden_act", "\"gelu\"", Code::kUnsupported},
      {"logit_scale", "0.5", Code::kUnsupported},
      {"partial_rotary_factor", "0.5", Code::kUnsupported},
      {"rope_scaling", R"({"rope_type": "ntk", "factor": 2})", Code::kUnsupported},
      {"rope_scaling", R"({"rope_type": "llama3", "factor": 2, "attn_factor": 3})", Code::kUnsupported},
      {"use_mrope", "true", Code::kUnsupported},
      {"quantization_config", R"({"bits": 4})", Code::kUnsupported},
      {"model_type", "\"gpt2\"", Code::kUnsupported},
      {"model_type", nullptr, Code::kConfig},
      {"hidden_size", nullptr, Code::kConfig},
      {"num_key_value_heads", "3", Code::kConfig},
      {"head_dim", "7", Code::kConfig},
      {"vocab_size", "0", Code::kConfig},
      {"rope_theta", "0.5", Code::kConfig},
      {"vocab_size", "\"many\"", Code::kFormat},
      {"vocab_size", "16777217", Code::kConfig},
      {"hidden_size", "4611686018427387904", Code::kConfig},
      {"max_position_embeddings", "2147483648", Code::kConfig},
      {"num_hidden_layers", "10000000", Code::kConfig},
      {"num_hidden_layers", "1000000000000000000", Code::kConfig},
      {"num_hidden_layers", "0", Code::kConfig},
      {"rms_norm_eps", "0.0", Code::kConfig},
      {"rms_norm_eps", "1e-39", Code::kConfig},
      {"rms_norm_eps", "1.5", Code::kConfig},
  };
  for (const auto& c : cases) {
    const Json json = config_with(c.field, c.value);
    EXPECT_THROWS(parse(json), c.code);
    const bool named = message(json).find(std::strcmp(c.value ? c.value : "", "{") ? c.field : "") != std::string::npos ||
                       std::string(c.field) == "model_type" || std::string(c.field) == "rope_theta";
    if (!named) test::report(__FILE__, __LINE__, std::string(c.field) + " is not named in: " + message(json));
  }
}

TEST(sizes_whose_products_overflow_are_refused) {
  model::ModelConfig config = parse(config_with());
  config.heads = config.kv_heads = config.head_dim = 1 << 20;  // q_proj alone would have 2^45 elements
  EXPECT_THROWS(config.check(), Code::kConfig);
  config = parse(config_with());
  config.max_positions = INT32_MAX;
  config.head_dim = 1 << 14;  // the rotary table would have 2^45 angles
  EXPECT_THROWS(config.check(), Code::kConfig);
  config.head_dim = 128;  // a large but valid value
  config.vocabulary = 1 << 18, config.width = 1 << 14, config.layers = 128, config.mlp_width = 1 << 16;
  config.check();
}

TEST(null_and_harmless_fields_are_accepted) {
  EXPECT_EQ(parse(config_with("rope_scaling", "null")).width, 32);
  EXPECT_EQ(parse(config_with("something_new", "null")).width, 32);
  EXPECT_EQ(parse(config_with("bos_token_id", "[1, 2]")).width, 32);
}

TEST(fields_that_reach_no_logit_are_passed_over) {
  // Fields that files of Qwen2.5, its distillations and fine-tunes have in addition to the sizes.
  const std::pair<const char*, const char*> cases[] = {
      {"use_mrope", "false"}, {"unsloth_fixed", "true"}, {"_attn_implementation", "\"sdpa\""},
      {"_attn_implementation_autoset", "true"}, {"rope_interleaved", "false"}, {"is_llama_config", "true"},
      {"transformers.js_config", R"({"dtype": "q4"})"}, {"is_composition", "false"}, {"neftune_noise_alpha", "5"},
      {"_flash_attn_2_enabled", "true"}, {"max_length", "20"}, {"top_p", "0.9"}, {"repetition_penalty", "1.1"},
      {"rope_scaling", R"({"type": "yarn", "factor": 4.0, "attn_factor": 1.0})"}, {"pruned_heads", "{}"}, {"logit_scale", "1.0"}};
  for (const auto& [field, value] : cases) {
    model::ConfigReading reading{.strict = true, .warnings = {}};
    EXPECT_EQ(model::parse_hf_config(config_with(field, value), "config.json", &reading).width, 32);
  }
}

TEST(an_unknown_field_warns_or_is_refused_where_that_is_asked_for) {
  const Json json = config_with("colour", "\"blue\"");
  model::ConfigReading reading;
  EXPECT_EQ(model::parse_hf_config(json, "config.json", &reading).width, 32);
  EXPECT_EQ(reading.warnings.size(), 1u);
  EXPECT_EQ(reading.warnings.front(), "config.json: colour = \"blue\"");
  model::ConfigReading strict{.strict = true, .warnings = {}};
  EXPECT_THROWS(model::parse_hf_config(json, "config.json", &strict), Code::kUnsupported);
}

TEST(everything_that_is_wrong_is_said_at_once) {
  Json json = config_with("hidden_act", "\"gelu\"");
  json.set("num_key_value_heads", Json::integer(3));
  json.set("mlp_bias", Json::boolean(true));
  json.set("rope_scaling", Json::parse(R"({"rope_type": "ntk"})", "t"));
  const std::string text = message(json);
  for (const char* part : {"4 problems", "hidden_act", "mlp_bias", "ntk", "num_attention_heads is 4"})
    if (text.find(part) == std::string::npos) test::report(__FILE__, __LINE__, std::string(part) + " is not in: " + text);
}

TEST(a_mixture_of_experts_that_no_architecture_has_is_refused_in_one_line) {
  Json by_name = config_with("model_type", "\"hunyuan_v1_moe\""), by_count = config_with("num_local_experts", "8");
  by_name.set("num_experts", Json::integer(128));
  by_name.set("norm_topk_prob", Json::boolean(true));
  EXPECT_EQ(message(by_name), "config.json: model_type \"hunyuan_v1_moe\" is a mixture of experts that is not supported; supported are dense models, and the mixtures qwen3_moe, olmoe, mixtral, glm4_moe, gpt_oss, qwen3_5_moe, qwen3_next, granitemoehybrid, nemotron_h, granitemoe, lfm2_moe, ernie4_5_moe, qwen2_moe, dots1, minimax_m2, solar_open, exaone_moe.");
  EXPECT_TRUE(message(by_count).find("mixture of experts") != std::string::npos);
  EXPECT_THROWS(parse(by_name), Code::kUnsupported);
  EXPECT_EQ(parse(config_with("num_local_experts", "0")).width, 32);  // 0 means that there are no experts
}

bool same(const ModelConfig& a, const ModelConfig& b) {
  return a.arch == b.arch && a.vocabulary == b.vocabulary && a.width == b.width && a.layers == b.layers &&
         a.heads == b.heads && a.kv_heads == b.kv_heads && a.head_dim == b.head_dim && a.mlp_width == b.mlp_width &&
         a.max_positions == b.max_positions && a.norm_eps == b.norm_eps && a.tied_head == b.tied_head &&
         a.qkv_bias == b.qkv_bias && a.qk_norm == b.qk_norm && a.sliding_window == b.sliding_window &&
         a.rope.kind == b.rope.kind && a.rope.theta == b.rope.theta && a.rope.factor == b.rope.factor &&
         a.rope.low_freq_factor == b.rope.low_freq_factor && a.rope.beta_fast == b.rope.beta_fast &&
         a.rope.attention_factor == b.rope.attention_factor && a.rope.yarn_truncate == b.rope.yarn_truncate &&
         a.rope.original_max_positions == b.rope.original_max_positions;
}

TEST(writing_and_reading_a_config_changes_nothing) {
  for (const char* type : {"llama", "mistral", "qwen2", "qwen3"}) {
    Json json = config_with("model_type", (std::string("\"") + type + "\"").c_str());
    for (const char* rope : {R"({"rope_type": "default"})", R"({"rope_type": "linear", "factor": 3.0})",
                             R"({"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.5})",
                             R"({"rope_type": "yarn", "factor": 4.0, "attention_factor": 1.25})"}) {
      json.set("rope_scaling", Json::parse(rope, "test"));
      ModelConfig c = parse(json);
      if (c.arch == "mistral" || c.arch == "qwen3") c.sliding_window = 7;
      const Json written = Json::parse(model::to_hf_config(c).dump(), "written");
      if (!same(parse(written), c)) test::report(__FILE__, __LINE__, "not the same: " + written.dump());
      json = config_with("model_type", (std::string("\"") + type + "\"").c_str());
    }
  }
}

TEST(every_golden_config_is_understood) {
  if (test::goldens().empty()) SKIP("no golden data");
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::goldens() + "/models")) {
    const ModelConfig c = parse(test::read_json(entry.path().string() + "/config.json"));
    EXPECT_TRUE(same(parse(model::to_hf_config(c)), c));
    ++seen;
  }
  EXPECT_EQ(seen, 10);
}

}  // namespace
}  // namespace model_config_test
