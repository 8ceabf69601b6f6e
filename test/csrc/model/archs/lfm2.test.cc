// LFM2: which layers are convolutions, the MLP's width, tensor names. published_models.test.cc compares
// numbers.
#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_lfm2_test {
namespace {

using namespace hone;

TEST(layers_are_convolutions_where_the_file_says_so) {
  EXPECT_TRUE(!test::parse(test::hf_config("lfm2")).is_hybrid());
  const model::ModelConfig by_index = test::parse("lfm2", "full_attn_idxs", "[1]"), by_type = test::parse("lfm2", "layer_types", R"(["conv", "full_attention"])");
  for (const model::ModelConfig& c : {by_index, by_type}) {
    EXPECT_TRUE(c.is_linear(0) && !c.is_linear(1) && c.delta.is_convolution());
    EXPECT_EQ(c.in_width(0), 3 * c.width);
    EXPECT_EQ(c.state_floats(), 2 * c.width);
  }
  EXPECT_THROWS(test::parse("lfm2", "layer_types", R"(["conv", "linear_attention"])"), Code::kUnsupported);
  EXPECT_THROWS(test::parse("lfm2", "full_attn_idxs", "[7]"), Code::kConfig);  // a model without attention
  EXPECT_THROWS(test::parse("lfm2", "conv_bias", "true"), Code::kUnsupported);
  Json without = test::hf_config("lfm2", "full_attn_idxs", "[1]");
  without.set("conv_L_cache", Json::integer(0));
  EXPECT_THROWS(test::parse(without), Code::kConfig);
}

TEST(the_mlp_has_two_thirds_of_the_width_in_the_file_as_a_multiple) {
  EXPECT_EQ(test::parse("lfm2", "block_ff_dim", "6656").mlp_width, 4608);
  EXPECT_EQ(test::parse("lfm2", "block_multiple_of", "4").mlp_width, 44);
  EXPECT_EQ(test::parse("lfm2", "block_auto_adjust_ff_dim", "false").mlp_width, 64);
  EXPECT_THROWS(test::parse("lfm2", "block_multiple_of", "0"), Code::kConfig);
}

TEST(what_is_written_is_read_again) {
  const model::ModelConfig c = test::parse("lfm2", "full_attn_idxs", "[0]"), again = test::parse(test::written(c));
  EXPECT_EQ(again.mlp_width, c.mlp_width);
  EXPECT_TRUE(again.linear_layers == c.linear_layers && again.tied_head == c.tied_head && again.norm_eps == c.norm_eps);
  EXPECT_EQ(again.delta.taps, c.delta.taps);
}

}  // namespace
}  // namespace model_archs_lfm2_test
