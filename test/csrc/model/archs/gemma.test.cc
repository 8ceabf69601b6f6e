// Gemma-2 and Gemma-3: presets for fields that a file lacks, norms before and after, GELU, a scaled
// embedding.
#include "model/archs/gemma.h"

#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_gemma_test {
namespace {

using namespace hone;

TEST(silent_files_have_the_class_s_sizes) {
  const model::ModelConfig c = test::parse(Json::parse(R"({"model_type": "gemma2"})", "t"));
  EXPECT_EQ(c.width, 2304);
  EXPECT_EQ(c.head_dim, 256);
  EXPECT_TRUE(c.tied_head && c.gelu && c.norm_offset == 1.0f && c.norms_before() && c.norms_after());
  EXPECT_EQ(c.embedding_scale, 48.0f);
  EXPECT_EQ(c.query_scalar, 256.0);
}

TEST(the_gate_is_gelu_whatever_hidden_act_says) {
  EXPECT_TRUE(test::parse("gemma2", "hidden_act", "\"gelu\"").gelu);
  EXPECT_THROWS(test::parse("gemma2", "hidden_activation", "\"relu\""), Code::kUnsupported);
}

TEST(a_null_cap_is_none_and_an_absent_one_the_class_s) {
  EXPECT_EQ(test::parse("gemma2", "attn_logit_softcapping", "null").attention_softcap, 0.0f);
  EXPECT_EQ(test::parse(test::hf_config("gemma2")).attention_softcap, 50.0f);
  EXPECT_EQ(test::parse(test::hf_config("gemma2")).logit_softcap, 30.0f);
  EXPECT_EQ(test::parse(test::hf_config("gemma3_text")).logit_softcap, 0.0f);
  EXPECT_THROWS(test::parse("gemma2", "query_pre_attn_scalar", "0"), Code::kConfig);
}

}  // namespace
}  // namespace model_archs_gemma_test
