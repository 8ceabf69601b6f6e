// Falcon-H1: Mamba-2 beside attention in every layer, names and shapes of tensors, multipliers. published_models.test.cc
// compares numbers.
#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_falcon_h1_test {
namespace {

using namespace hone;

/// Two layers of width 32 with 24 columns of Mamba-2 in two groups.
Json falcon(std::initializer_list<std::pair<const char*, const char*>> fields = {}) {
  Json json = test::hf_config("falcon_h1");
  for (const auto& [name, value] : {std::pair{"mamba_d_ssm", "24"}, {"mamba_n_heads", "4"}, {"mamba_d_head", "6"}, {"mamba_d_state", "5"}, {"mamba_n_groups", "2"}}) json.set(name, Json::parse(value, "t"));
  for (const auto& [name, value] : fields) json.set(name, Json::parse(value, "t"));
  return json;
}

std::vector<int64_t> shape_of(const model::ModelConfig& c, const std::string& name) {
  for (const auto& spec : model::tensor_specs(c)) {
    if (spec.name == "model." + name) return spec.shape;
  }
  return {};
}

TEST(every_layer_has_attention_and_mamba_behind_one_norm) {
  for (const model::ModelConfig& c : {test::parse(falcon()), test::parse(test::written(test::parse(falcon())))}) {
    EXPECT_TRUE(c.attends(1) && c.is_linear(1) && c.has_beside(1) && c.delta.mamba);
    EXPECT_EQ(c.attention_layers(), 2);
    EXPECT_EQ(c.in_width(0), (32 + 2 * 16) + 24 + (24 + 2 * 2 * 5) + 4);
    EXPECT_EQ(c.state_floats(), 2 * (3 * (24 + 20) + 4 * 5 * 6));
    EXPECT_TRUE((shape_of(c, "layers.1.mamba.in_proj.weight") == std::vector<int64_t>{72, 32}));
    EXPECT_TRUE((shape_of(c, "layers.1.mamba.out_proj.weight") == std::vector<int64_t>{32, 24}));
    EXPECT_TRUE((shape_of(c, "layers.1.self_attn.o_proj.weight") == std::vector<int64_t>{32, 32}));
    EXPECT_TRUE((shape_of(c, "layers.1.feed_forward.down_proj.weight") == std::vector<int64_t>{32, 64}));
    EXPECT_TRUE((shape_of(c, "layers.1.pre_ff_layernorm.weight") == std::vector<int64_t>{32}));
    EXPECT_TRUE((shape_of(c, "final_layernorm.weight") == std::vector<int64_t>{32}));
    EXPECT_TRUE(shape_of(c, "layers.1.mamba.norm.weight").empty());
  }
}

TEST(the_output_is_normed_by_group_if_the_file_says_so) {
  const model::ModelConfig c = test::parse(falcon({{"mamba_rms_norm", "true"}, {"mamba_norm_before_gate", "false"}})), again = test::parse(test::written(c));
  EXPECT_TRUE(c.delta.norms == 2 && again.delta.norms == 2);
  EXPECT_TRUE((shape_of(c, "layers.0.mamba.norm.weight") == std::vector<int64_t>{24}));
}

TEST(multipliers_are_read_and_written) {
  const Json json = falcon({{"embedding_multiplier", "5.5"}, {"lm_head_multiplier", "0.25"}, {"attention_in_multiplier", "1.5"}, {"key_multiplier", "0.3"}, {"attention_out_multiplier", "0.9"},
                            {"ssm_in_multiplier", "1.25"}, {"ssm_out_multiplier", "0.2"}, {"ssm_multipliers", "[0.1, 0.2, 0.3, 0.4, 0.5]"}, {"mlp_multipliers", "[0.8, 0.6]"}});
  for (const model::ModelConfig& c : {test::parse(json), test::parse(test::written(test::parse(json)))}) {
    const model::Multipliers& m = c.multipliers;
    EXPECT_TRUE(c.embedding_scale == 5.5f && c.logits_scaling == 4.0);
    EXPECT_TRUE(m.attention_in == 1.5 && m.key == 0.3 && m.attention_out == 0.9 && m.linear_in == 1.25 && m.linear_out == 0.2);
    EXPECT_TRUE((m.linear == std::array<double, 5>{0.1, 0.2, 0.3, 0.4, 0.5}));
    EXPECT_TRUE(m.gate == 0.8 && m.down == 0.6);
  }
  EXPECT_TRUE(test::parse(falcon()).multipliers == model::Multipliers());
  EXPECT_EQ(test::parse(falcon({{"mamba_d_ssm", "null"}, {"mamba_n_heads", "8"}, {"mamba_d_head", "8"}})).delta.values(), 64);
}

TEST(what_is_not_here_is_refused) {
  EXPECT_THROWS(test::parse(falcon({{"mamba_rms_norm", "true"}})), Code::kUnsupported);  // the norm would be before the gate
  for (const char* field : {"attention_bias", "mlp_bias", "projectors_bias", "mamba_proj_bias"}) EXPECT_THROWS(test::parse(falcon({{field, "true"}})), Code::kUnsupported);
  EXPECT_THROWS(test::parse(falcon({{"mamba_conv_bias", "false"}})), Code::kUnsupported);
  EXPECT_THROWS(test::parse(falcon({{"mamba_d_ssm", "25"}})), Code::kConfig);
  EXPECT_THROWS(test::parse(falcon({{"ssm_multipliers", "[1, 2]"}})), Code::kConfig);
  EXPECT_THROWS(test::parse(falcon({{"lm_head_multiplier", "0"}})), Code::kConfig);
}

}  // namespace
}  // namespace model_archs_falcon_h1_test
