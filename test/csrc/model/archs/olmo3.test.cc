// OLMo-3: sliding windows in three of four layers; only layers without a window scale their rotary angles.
#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_olmo3_test {
namespace {

using namespace hone;

TEST(only_layers_without_a_window_have_their_angles_scaled) {
  Json json = test::hf_config("olmo3", "num_hidden_layers", "4");
  json.set("rope_scaling", Json::parse(R"({"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 32})", "t"));
  json.set("sliding_window", Json::integer(16));
  for (const model::ModelConfig& c : {test::parse(json), test::parse(test::written(test::parse(json)))}) {
    EXPECT_TRUE(c.rope.kind == model::RopeConfig::Kind::kYarn && c.sliding_theta == 5000.0);
    EXPECT_TRUE(!c.norms_before() && c.qk_norm_whole);
    for (int64_t l = 0; l < 4; ++l) EXPECT_EQ(c.window(l), l == 3 ? 0 : 16);
  }
}

TEST(a_type_of_layer_that_is_not_there_is_refused) {
  EXPECT_THROWS(test::parse("olmo3", "layer_types", R"(["linear_attention", "full_attention"])"), Code::kUnsupported);
}

}  // namespace
}  // namespace model_archs_olmo3_test
