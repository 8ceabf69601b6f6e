// Cohere's two families: what every layer has, which layers of the second have a window and positions, and what is refused.
#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_cohere_test {
namespace {

using namespace hone;

TEST(both_families_have_parallel_halves_behind_a_centered_norm) {
  for (const char* type : {"cohere", "cohere2"}) {
    Json json = test::hf_config(type, "rms_norm_eps");
    json.set("layer_norm_eps", Json::number(2e-4));
    json.set("logit_scale", Json::number(0.25));
    const model::ModelConfig first = test::parse(json), again = test::parse(test::written(first));
    for (const model::ModelConfig& c : {first, again}) {
      EXPECT_TRUE(c.parallel && c.norm_centered && c.rope.interleaved && c.tied_head && !c.qkv_bias && !c.o_bias);
      EXPECT_EQ(c.norm_eps, 2e-4f);
      EXPECT_EQ(c.logits_scaling, 4.0);
    }
    const model::ModelConfig biased = test::parse(test::written(test::parse(type, "attention_bias", "true")));
    EXPECT_TRUE(biased.qkv_bias && biased.o_bias);
  }
}

TEST(defaults_are_those_of_the_transformers_classes) {
  const model::ModelConfig one = test::parse(Json::parse(R"({"model_type": "cohere"})", "t")), two = test::parse(Json::parse(R"({"model_type": "cohere2"})", "t"));
  EXPECT_EQ(one.rope.theta, 5e5);
  EXPECT_EQ(two.rope.theta, 1e4);
  EXPECT_EQ(one.sliding_window, 0);
  for (const model::ModelConfig& c : {one, two}) {
    EXPECT_EQ(c.vocabulary, 256000);
    EXPECT_EQ(c.width, 8192);
    EXPECT_EQ(c.mlp_width, 22528);
    EXPECT_EQ(c.kv_heads, 64);
    EXPECT_EQ(c.norm_eps, 1e-5f);
    EXPECT_EQ(c.logits_scaling, 16.0);
    for (int64_t l = 0; l < 40; ++l) {
      const bool slides = c.arch == "cohere2" && l % 4 != 3;
      EXPECT_EQ(c.window(l), slides ? 4096 : 0);
      EXPECT_EQ(c.rotates(l), slides || c.arch == "cohere");
    }
  }
}

TEST(a_list_of_layers_decides_over_the_pattern) {
  Json json = test::hf_config("cohere2", "sliding_window", "16");
  json.set("layer_types", Json::parse(R"(["full_attention", "sliding_attention"])", "t"));
  const model::ModelConfig c = test::parse(test::written(test::parse(json)));
  EXPECT_TRUE(c.window(0) == 0 && !c.rotates(0) && c.window(1) == 16 && c.rotates(1));
  json.set("layer_types", Json::parse(R"(["full_attention", "full_attention"])", "t"));
  const model::ModelConfig full = test::parse(test::written(test::parse(json)));
  EXPECT_TRUE(full.window(0) == 0 && !full.rotates(0) && full.window(1) == 0 && !full.rotates(1));
}

void expect_refusal(const char* type, const char* field, const char* value, Code code) {
  try {
    test::parse(type, field, value);
    test::report(__FILE__, __LINE__, std::string(field) + " = " + value + " is accepted");
  } catch (const Error& error) {
    EXPECT_TRUE(error.code() == code);
    EXPECT_TRUE(std::string(error.what()).find(field) != std::string::npos);
  }
}

TEST(other_variants_are_refused_by_field) {
  for (const char* type : {"cohere", "cohere2"}) {
    expect_refusal(type, "use_qk_norm", "true", Code::kUnsupported);
    expect_refusal(type, "layer_norm_bias", "true", Code::kUnsupported);
    expect_refusal(type, "use_parallel_block", "false", Code::kUnsupported);
    expect_refusal(type, "use_gated_activation", "false", Code::kUnsupported);
    expect_refusal(type, "position_embedding_type", "\"rope_neox\"", Code::kUnsupported);
    expect_refusal(type, "rotary_pct", "0.5", Code::kUnsupported);
    expect_refusal(type, "use_embedding_sharing", "false", Code::kUnsupported);
    expect_refusal(type, "logit_scale", "0", Code::kConfig);
  }
  expect_refusal("cohere2", "order_of_interleaved_layers", "\"global_attn_first\"", Code::kUnsupported);
  expect_refusal("cohere2", "sliding_window", "null", Code::kUnsupported);
  expect_refusal("cohere2", "sliding_window_pattern", "0", Code::kConfig);
  expect_refusal("cohere", "sliding_window", "16", Code::kUnsupported);
}

}  // namespace
}  // namespace model_archs_cohere_test
