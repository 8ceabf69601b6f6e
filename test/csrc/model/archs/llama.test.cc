// Llama: no biases anywhere, grouped heads, any rotary scaling. A fault put into the code, detected here:
// attention_bias read but not checked.
#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_llama_test {
namespace {

using namespace hone;

TEST(sizes_are_read) {
  const model::ModelConfig c = test::parse(test::hf_config("llama"));
  EXPECT_EQ(c.vocabulary, 100);
  EXPECT_EQ(c.head_dim, 8);  // if the file lacks it: hidden size over heads
  EXPECT_EQ(c.kv_heads, 2);
  EXPECT_TRUE(!c.qkv_bias && !c.qk_norm && c.sliding_window == 0);
  EXPECT_EQ(test::parse("llama", "num_key_value_heads", nullptr).kv_heads, 4);
  EXPECT_EQ(test::parse("llama", "head_dim", "16").head_dim, 16);
}

TEST(biases_are_refused) {
  EXPECT_THROWS(test::parse("llama", "attention_bias", "true"), Code::kUnsupported);
  EXPECT_THROWS(test::parse("llama", "mlp_bias", "true"), Code::kUnsupported);
  EXPECT_EQ(test::parse("llama", "mlp_bias", "false").width, 32);
}

TEST(the_written_file_says_that_there_are_none) {
  const Json json = test::written(test::parse(test::hf_config("llama")));
  EXPECT_TRUE(!json.find("attention_bias")->as_bool("t") && !json.find("mlp_bias")->as_bool("t"));
}

}  // namespace
}  // namespace model_archs_llama_test
