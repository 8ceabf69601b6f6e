// Gemma-3: five layers with a window for each without, two rotary bases, the text model of a wrapper.
#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_gemma3_test {
namespace {

using namespace hone;

TEST(the_pattern_says_which_layers_have_the_window) {
  Json json = test::hf_config("gemma3_text", "num_hidden_layers", "7");
  json.set("sliding_window", Json::integer(16));
  const model::ModelConfig c = test::parse(json);
  for (int64_t l = 0; l < 7; ++l) EXPECT_EQ(c.window(l), l == 5 ? 0 : 16);
  json.set("sliding_window_pattern", Json::integer(2));
  EXPECT_EQ(test::parse(json).window(1), 0);
  EXPECT_EQ(test::parse(json).window(2), 16);
}

TEST(each_kind_of_layer_has_its_rotation_in_both_styles) {
  Json old = test::hf_config("gemma3_text", "rope_scaling", R"({"rope_type": "linear", "factor": 8.0})");
  old.set("rope_local_base_freq", Json::number(1000.0));
  const Json young = test::hf_config("gemma3_text", "rope_parameters", R"({"full_attention": {"rope_type": "linear", "factor": 8.0,
    "rope_theta": 5000.0}, "sliding_attention": {"rope_type": "default", "rope_theta": 1000.0}})");
  for (const model::ModelConfig& c : {test::parse(old), test::parse(young), test::parse(test::written(test::parse(old)))}) {
    EXPECT_EQ(c.rope.theta, 5000.0);
    EXPECT_EQ(c.rope.factor, 8.0);
    EXPECT_EQ(c.sliding_theta, 1000.0);
    EXPECT_TRUE(c.qk_norm && !c.qk_norm_whole);
  }
}

TEST(a_wrapper_holds_a_text_model_whose_class_says_the_rest) {
  Json json = Json::parse(R"({"model_type": "gemma3", "mm_tokens_per_image": 256, "vision_config": {}, "text_config":
    {"model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 34}})", "t");
  const model::ModelConfig c = test::parse(json);
  EXPECT_EQ(c.vocabulary, 262208);
  EXPECT_EQ(c.width, 2560);
  EXPECT_TRUE(c.tied_head);
  EXPECT_EQ(c.arch, std::string("gemma3_text"));
}

}  // namespace
}  // namespace model_archs_gemma3_test
