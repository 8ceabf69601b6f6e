// Seed-OSS: biases of q, k and v, switched by its own flag; other biases are refused.
#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_seed_oss_test {
namespace {

using namespace hone;

TEST(biases_are_of_queries_keys_and_values_alone) {
  EXPECT_TRUE(test::parse(test::hf_config("seed_oss")).qkv_bias);
  EXPECT_TRUE(!test::parse("seed_oss", "attention_bias", "false").qkv_bias);
  for (const char* field : {"attention_out_bias", "mlp_bias"}) {
    EXPECT_EQ(test::parse("seed_oss", field, "false").arch, std::string("seed_oss"));
    EXPECT_THROWS(test::parse("seed_oss", field, "true"), Code::kUnsupported);
  }
}

}  // namespace
}  // namespace model_archs_seed_oss_test
