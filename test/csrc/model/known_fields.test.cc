// Fields that no architecture reads: dropped, refused unless they have a neutral value, or unknown; and which
// configs count as mixtures of experts.
#include "model/known_fields.h"

#include "check.h"

namespace model_known_fields_test {
namespace {

using namespace hone;

ConfigProblems judged(const char* text) {
  const Json json = Json::parse(text, "test");
  ConfigProblems problems;
  const ConfigFields fields(json, "file", &problems);
  model::judge_unread(fields, problems);
  return problems;
}

TEST(the_value_decides_where_the_field_could_change_a_logit) {
  EXPECT_TRUE(judged(R"({"logit_scale": 1.0, "interpolate_factor": 1, "mlp_bias": false, "pruned_heads": {}})").found.empty());
  const ConfigProblems refused = judged(R"({"logit_scale": 0.5, "mlp_bias": true, "sliding_window": 4096})");
  EXPECT_EQ(refused.found.size(), 3u);
  EXPECT_EQ(refused.found[0].text, "file: logit_scale = 0.5 means scaled logits, which this architecture does not have here.");
  EXPECT_TRUE(refused.unknown.empty());
  EXPECT_TRUE(judged(R"({"layer_types": ["full_attention", "full_attention"]})").found.empty());
  EXPECT_EQ(judged(R"({"layer_types": ["full_attention", "sliding_attention"]})").found.size(), 1u);
  EXPECT_EQ(judged(R"({"layer_types": ["full_attention", 1]})").found.size(), 1u);
}

TEST(what_reaches_no_logit_is_dropped_and_the_rest_is_told) {
  const ConfigProblems found = judged(R"({"torch_dtype": "bfloat16", "eos_token_id": [1, 2], "colour": 3})");
  EXPECT_TRUE(found.found.empty());
  EXPECT_EQ(found.unknown.size(), 1u);
  EXPECT_EQ(found.unknown.front(), "file: colour = 3");
}

TEST(experts_are_found_by_name_or_by_count) {
  const auto experts = [](const char* text) { return !model::experts_of(Json::parse(text, "test")).empty(); };
  for (const char* type : {"hunyuan_v1_moe", "granitemoeshared", "deepseek_v3"}) {
    EXPECT_TRUE(experts(("{\"model_type\": \"" + std::string(type) + "\"}").c_str()));
  }
  EXPECT_TRUE(experts(R"({"model_type": "llama", "n_routed_experts": 64})"));
  EXPECT_TRUE(!experts(R"({"model_type": "llama", "num_experts": 1})"));
  EXPECT_TRUE(!experts(R"({"model_type": "qwen3"})"));
  for (const char* type : {"qwen3_moe", "olmoe", "mixtral", "glm4_moe", "gpt_oss", "qwen3_5_moe", "qwen3_5_moe_text", "granitemoehybrid", "nemotron_h", "granitemoe", "lfm2_moe", "ernie4_5_moe", "qwen2_moe", "dots1", "minimax_m2", "solar_open", "exaone_moe"}) {
    EXPECT_TRUE(!experts(("{\"model_type\": \"" + std::string(type) + "\", \"num_experts\": 8}").c_str()));
  }
}

}  // namespace
}  // namespace model_known_fields_test
