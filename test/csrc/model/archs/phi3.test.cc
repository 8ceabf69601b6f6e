// Phi-3 and Phi-4: fused tensors, partial rotary embedding, and longrope within the original context and
// beyond it.
#include <algorithm>

#include "check.h"
#include "model/archs/fixture.h"
#include "model/rope_table.h"

namespace model_archs_phi3_test {
namespace {

using namespace hone;

TEST(projections_lie_in_one_tensor_each) {
  std::vector<std::string> names;
  for (const auto& spec : model::tensor_specs(test::parse(test::hf_config("phi3")))) names.push_back(spec.name);
  for (const char* name : {"model.layers.1.self_attn.qkv_proj.weight", "model.layers.1.mlp.gate_up_proj.weight"})
    EXPECT_TRUE(std::find(names.begin(), names.end(), name) != names.end());
}

TEST(a_part_of_a_head_is_rotated_in_both_styles) {
  EXPECT_EQ(test::parse("phi3", "partial_rotary_factor", "0.75").rotary_dim(), 6);
  EXPECT_EQ(test::parse("phi3", "rope_parameters", R"({"rope_type": "default", "rope_theta": 5.0, "partial_rotary_factor": 0.75})").rotary_dim(), 6);
  EXPECT_EQ(test::parse(test::hf_config("phi3")).rotary_dim(), 8);
  EXPECT_THROWS(test::parse("phi3", "partial_rotary_factor", "0.9"), Code::kConfig);  // would be 7 dimensions
}

TEST(longrope_ends_where_its_short_factors_do) {
  Json json = test::hf_config("phi3", "rope_scaling", R"({"type": "longrope", "short_factor": [1, 2, 4, 8], "long_factor": [3, 3, 3, 3]})");
  json.set("original_max_position_embeddings", Json::integer(32));
  const model::ModelConfig c = test::parse(json);
  EXPECT_EQ(c.max_positions, 32);
  EXPECT_EQ(c.rope.factor, 4.0);
  EXPECT_NEAR(model::rope_attention_factor(c.rope), std::sqrt(1.0 + std::log(4.0) / std::log(32.0)), 1e-12);
  EXPECT_NEAR(model::rope_frequencies(c.rope, 8)[3], std::pow(5000.0, -0.75) / 8, 1e-12);
  const model::ModelConfig again = test::parse(test::written(c));
  EXPECT_NEAR(model::rope_attention_factor(again.rope), model::rope_attention_factor(c.rope), 1e-12);
  EXPECT_EQ(again.max_positions, 32);
  json.set("rope_scaling", Json::parse(R"({"type": "longrope", "short_factor": [1, 2]})", "t"));
  EXPECT_THROWS(test::parse(json), Code::kConfig);
}

TEST(the_longest_sequence_of_a_run_decides_once_which_factors_of_longrope_are_used) {
  Json json = test::hf_config("phi3", "rope_scaling", R"({"type": "longrope", "short_factor": [1, 2, 4, 8], "long_factor": [3, 5, 7, 9]})");
  json.set("original_max_position_embeddings", Json::integer(32));
  json.set("hone_max_context", Json::integer(32));
  EXPECT_EQ(test::parse(json).max_positions, 32);
  EXPECT_TRUE(!test::parse(json).rope.extended);
  json.set("hone_max_context", Json::integer(33));
  const model::ModelConfig c = test::parse(json), again = test::parse(test::written(c));
  for (const model::ModelConfig& config : {c, again}) {
    EXPECT_EQ(config.max_positions, 128);
    EXPECT_TRUE(config.rope.extended);
    const double divisors[] = {3, 5, 7, 9};
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(model::rope_frequencies(config.rope, 8)[i], std::pow(5000.0, -double(i) / 4) / divisors[i], 1e-12);
    }
    EXPECT_NEAR(model::rope_attention_factor(config.rope), std::sqrt(1.0 + std::log(4.0) / std::log(32.0)), 1e-12);
  }
  json.set("rope_scaling", Json::parse(R"({"type": "longrope", "short_factor": [1, 2, 4, 8], "long_factor": [3, 5]})", "t"));
  EXPECT_THROWS(test::parse(json), Code::kConfig);
}

}  // namespace
}  // namespace model_archs_phi3_test
