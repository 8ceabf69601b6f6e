// GLM-4 and GLM-4-0414: half of each head's dimensions are rotated, in neighbouring pairs; tensors have names
// of GLM's own.
#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_glm4_test {
namespace {

using namespace hone;

bool has(const model::ModelConfig& c, const std::string& name) {
  for (const auto& spec : model::tensor_specs(c)) {
    if (spec.name == "model.layers.1." + name) return true;
  }
  return false;
}

TEST(half_of_each_head_is_rotated_by_neighbours) {
  for (const char* type : {"glm", "glm4"}) {
    const model::ModelConfig c = test::parse(test::hf_config(type, "head_dim", "16"));
    EXPECT_TRUE(c.rope.interleaved && c.qkv_bias);
    EXPECT_EQ(c.rotary_dim(), 8);
    const model::ModelConfig again = test::parse(test::written(c));
    EXPECT_TRUE(again.rope.interleaved && again.qkv_bias && again.rotary_dim() == 8);
    EXPECT_TRUE(!test::parse(type, "attention_bias", "false").qkv_bias);
  }
}

TEST(only_the_second_has_norms_around_and_both_have_gate_and_up_in_one) {
  const model::ModelConfig first = test::parse(test::hf_config("glm")), second = test::parse(test::hf_config("glm4"));
  for (const auto& c : {first, second}) {
    for (const char* name : {"mlp.gate_up_proj.weight", "self_attn.q_proj.weight", "input_layernorm.weight", "post_attention_layernorm.weight"}) {
      EXPECT_TRUE(has(c, name));
    }
  }
  for (const char* name : {"post_self_attn_layernorm.weight", "post_mlp_layernorm.weight"}) EXPECT_TRUE(!has(first, name) && has(second, name));
}

}  // namespace
}  // namespace model_archs_glm4_test
