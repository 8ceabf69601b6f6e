// Hunyuan: norms of q and k after rotary embedding, and the rotary base that alpha gives.
// published_models.test.cc compares numbers.
#include <cmath>

#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_hunyuan_test {
namespace {

using namespace hone;

TEST(queries_and_keys_are_normed_last_and_biases_are_of_all_projections) {
  const model::ModelConfig plain = test::parse(test::hf_config("hunyuan_v1_dense")), biased = test::parse("hunyuan_v1_dense", "attention_bias", "true");
  EXPECT_TRUE(plain.qk_norm && plain.qk_norm_last && !plain.qkv_bias && !plain.o_bias);
  EXPECT_TRUE(biased.qkv_bias && biased.o_bias);
  EXPECT_THROWS(test::parse("hunyuan_v1_dense", "use_qk_norm", "false"), Code::kUnsupported);
  EXPECT_THROWS(test::parse("hunyuan_v1_dense", "use_cla", "true"), Code::kUnsupported);
}

TEST(alpha_makes_the_base_of_dynamic_angles_greater_for_hunyuan_alone) {
  const char* const dynamic = R"({"type": "dynamic", "alpha": 1000.0, "factor": 1.0, "beta_fast": 32, "mscale": 1.0})";
  const model::ModelConfig with = test::parse("hunyuan_v1_dense", "rope_scaling", dynamic), without = test::parse(test::hf_config("hunyuan_v1_dense"));
  const double D = double(with.head_dim);
  EXPECT_NEAR(with.rope.theta / without.rope.theta, std::pow(1000.0, D / (D - 2.0)), 1e-6);
  EXPECT_EQ(test::parse("llama", "rope_scaling", dynamic).rope.theta, test::parse(test::hf_config("llama")).rope.theta);
}

}  // namespace
}  // namespace model_archs_hunyuan_test
