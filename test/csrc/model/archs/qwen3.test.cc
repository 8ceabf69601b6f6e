// Qwen3: RMS norm on q and k per head, no biases. A fault put into the code, detected here: qk_norm not set.
#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_qwen3_test {
namespace {

using namespace hone;

TEST(queries_and_keys_are_normalised) {
  const model::ModelConfig c = test::parse(test::hf_config("qwen3"));
  EXPECT_TRUE(c.qk_norm && !c.qkv_bias);
  EXPECT_THROWS(test::parse("qwen3", "attention_bias", "true"), Code::kUnsupported);
}

TEST(its_parameters_include_the_norms) {
  bool query = false, key = false;
  for (const auto& spec : model::tensor_specs(test::parse(test::hf_config("qwen3")))) {
    query = query || spec.name == "model.layers.1.self_attn.q_norm.weight";
    key = key || spec.name == "model.layers.1.self_attn.k_norm.weight";
  }
  EXPECT_TRUE(query && key);
}

}  // namespace
}  // namespace model_archs_qwen3_test
