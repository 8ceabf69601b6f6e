// The fields that Llama-like architectures share: rotary scaling in both transformers styles, activation,
// sizes, and unknown fields. Faults put into the code: yarn factor from mscale not divided, rope_parameters
// ignored. Each is detected.
#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_decoder_test {
namespace {

using namespace hone;
using model::RopeConfig;

TEST(transformers_4_scaling_is_read) {
  const model::ModelConfig c = test::parse("llama", "rope_scaling", R"({"type": "linear", "factor": 2.0})");
  EXPECT_EQ(c.rope.theta, 5000.0);
  EXPECT_EQ(c.rope.factor, 2.0);
  EXPECT_TRUE(c.rope.kind == RopeConfig::Kind::kLinear);
}

TEST(transformers_5_scaling_is_read) {
  const model::ModelConfig c = test::parse("llama", "rope_parameters", R"({"rope_type": "yarn", "rope_theta": 1e6,
    "factor": 8.0, "original_max_position_embeddings": 16, "mscale": 0.707, "mscale_all_dim": 1.414, "truncate": false})");
  EXPECT_EQ(c.rope.theta, 1e6);
  EXPECT_TRUE(c.rope.kind == RopeConfig::Kind::kYarn && !c.rope.yarn_truncate);
  const double log8 = std::log(8.0);
  EXPECT_NEAR(c.rope.attention_factor, (0.0707 * log8 + 1.0) / (0.1414 * log8 + 1.0), 1e-12);
}

TEST(the_original_length_defaults_to_the_model_s) {
  const model::ModelConfig c = test::parse("llama", "rope_scaling", R"({"rope_type": "llama3", "factor": 2.0})");
  EXPECT_EQ(c.rope.original_max_positions, 128);
  EXPECT_EQ(c.rope.high_freq_factor, 4.0);
}

TEST(dynamic_scaling_leaves_the_model_s_own_context_unscaled) {
  const model::ModelConfig c = test::parse("llama", "rope_scaling", R"({"type": "dynamic", "factor": 2.0})");
  EXPECT_TRUE(c.rope.kind == model::RopeConfig::Kind::kDefault && c.max_positions == 128);
}

TEST(yarn_reads_attention_factor_and_not_attn_factor) {
  const model::ModelConfig c = test::parse("llama", "rope_scaling", R"({"rope_type": "yarn", "factor": 4.0, "attn_factor": 0.8})");
  EXPECT_EQ(c.rope.attention_factor, 0.0);
}

TEST(unusable_scaling_is_refused) {
  for (const char* rope : {R"({"rope_type": "ntk", "factor": 2})", R"({"rope_type": "llama3", "factor": 2, "attn_factor": 3})",
                           R"({"rope_type": "default", "partial_rotary_factor": 0.5})"}) {
    EXPECT_THROWS(test::parse("llama", "rope_scaling", rope), Code::kUnsupported);
  }
  for (const char* rope : {R"({"rope_type": "yarn", "factor": 0.5})", R"({"rope_type": "yarn", "factor": 2, "beta_fast": 0.5})",
                           R"({"rope_type": "llama3", "factor": 2, "low_freq_factor": 9})"}) {
    EXPECT_THROWS(test::parse("llama", "rope_scaling", rope), Code::kConfig);
  }
}

TEST(fields_that_change_numbers_are_refused_by_name) {
  for (const auto& [field, value] : {std::pair{"hidden_act", "\"gelu\""}, {"logit_scale", "0.5"}, {"partial_rotary_factor", "0.5"}}) {
    try {
      test::parse("llama", field, value);
      test::report(__FILE__, __LINE__, std::string(field) + " was accepted");
    } catch (const Error& e) {
      EXPECT_TRUE(e.code() == Code::kUnsupported && std::string(e.what()).find(field) != std::string::npos);
    }
  }
}

}  // namespace
}  // namespace model_archs_decoder_test
