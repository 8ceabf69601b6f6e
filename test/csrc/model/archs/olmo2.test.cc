// OLMo-2: norms after attention and MLP, q and k normed over all heads.
#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_olmo2_test {
namespace {

using namespace hone;

TEST(its_norms_come_after_and_span_all_heads) {
  const model::ModelConfig c = test::parse(test::hf_config("olmo2"));
  EXPECT_TRUE(!c.norms_before() && c.norms_after());
  int seen = 0;
  for (const auto& spec : model::tensor_specs(c)) {
    EXPECT_TRUE(spec.name.find("input_layernorm") == std::string::npos);
    if (spec.name == "model.layers.0.self_attn.q_norm.weight") seen += spec.shape[0] == c.q_width();
    if (spec.name == "model.layers.0.self_attn.k_norm.weight") seen += spec.shape[0] == c.kv_width();
    seen += spec.name == "model.layers.1.post_attention_layernorm.weight" || spec.name == "model.layers.1.post_feedforward_layernorm.weight";
  }
  EXPECT_EQ(seen, 4);
}

TEST(biases_are_refused) { EXPECT_THROWS(test::parse("olmo2", "attention_bias", "true"), Code::kUnsupported); }

}  // namespace
}  // namespace model_archs_olmo2_test
