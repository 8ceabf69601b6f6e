// Granite: its four multipliers, and Granite-4.0's layers of Mamba-2 and experts. published_models.test.cc compares
// numbers.
#include <cmath>

#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_granite_test {
namespace {

using namespace hone;

TEST(multipliers_are_read_and_written) {
  Json json = test::hf_config("granite", "logits_scaling", "8.0");
  json.set("embedding_multiplier", Json::number(12.0));
  json.set("residual_multiplier", Json::number(0.22));
  json.set("attention_multiplier", Json::number(0.015625));
  for (const model::ModelConfig& c : {test::parse(json), test::parse(test::written(test::parse(json)))}) {
    EXPECT_EQ(c.logits_scaling, 8.0);
    EXPECT_EQ(c.embedding_scale, 12.0f);
    EXPECT_EQ(c.residual_scale, 0.22f);
    EXPECT_EQ(c.attention_multiplier, 0.015625);
    EXPECT_TRUE(c.adds_apart());
  }
}

TEST(without_them_attention_is_not_scaled) {
  EXPECT_EQ(test::parse(test::hf_config("granite")).attention_multiplier, 1.0);
  EXPECT_THROWS(test::parse("granite", "logits_scaling", "0"), Code::kConfig);
}

Json hybrid(const char* layers) {
  Json json = test::hf_config("granitemoehybrid");
  json.set("num_local_experts", Json::integer(0));
  json.set("shared_intermediate_size", Json::integer(48));
  json.set("position_embedding_type", Json::string("rope"));
  json.set("layer_types", Json::parse(layers, "t"));
  return json;
}

TEST(a_hybrid_without_mamba_and_experts_is_a_dense_model_with_other_names) {
  const Json json = hybrid(R"(["attention", "attention"])");
  for (const model::ModelConfig& c : {test::parse(json), test::parse(test::written(test::parse(json)))}) {
    EXPECT_EQ(c.mlp_width, 48);
    EXPECT_TRUE(c.rotates(0) && c.rotates(1));
    int seen = 0;
    for (const auto& spec : model::tensor_specs(c)) {
      seen += spec.name == "model.layers.1.shared_mlp.input_linear.weight" && spec.shape[0] == 96;
      seen += spec.name == "model.layers.1.shared_mlp.output_linear.weight" && spec.shape[1] == 48;
    }
    EXPECT_EQ(seen, 2);
  }
  Json still = hybrid(R"(["attention", "attention"])");
  still.set("position_embedding_type", Json::string("nope"));
  EXPECT_TRUE(!test::parse(test::written(test::parse(still))).rotates(0));
}

Json with(Json json, std::initializer_list<std::pair<const char*, const char*>> fields) {
  for (const auto& [name, value] : fields) json.set(name, Json::parse(value, "t"));
  return json;
}

/// Two layers, the first of Mamba-2: width 32, so that values are 64.
Json mamba(std::initializer_list<std::pair<const char*, const char*>> fields = {}) {
  const Json sizes = with(hybrid(R"(["mamba", "attention"])"), {{"mamba_n_heads", "8"}, {"mamba_d_head", "8"}, {"mamba_d_state", "6"}, {"mamba_n_groups", "2"}});
  return with(sizes, fields);
}

/// The shape of the tensor with this name under model.layers; empty if there is none.
std::vector<int64_t> shape_of(const model::ModelConfig& c, const std::string& name) {
  for (const auto& spec : model::tensor_specs(c)) {
    if (spec.name == "model.layers." + name) return spec.shape;
  }
  return {};
}

TEST(layers_of_mamba_have_the_sizes_and_names_of_files) {
  const model::ModelConfig first = test::parse(mamba()), written = test::parse(test::written(first));
  for (const model::ModelConfig& c : {first, written, test::parse(mamba({{"mamba_d_head", R"("auto")"}, {"layer_types", R"(["linear_attention", "full_attention"])"}}))}) {
    EXPECT_TRUE(c.is_linear(0) && !c.is_linear(1) && c.delta.mamba && !c.mixes());
    EXPECT_EQ(c.delta.value_dim, 8);
    EXPECT_EQ(c.in_width(0), 64 + (64 + 2 * 2 * 6) + 8);
    EXPECT_EQ(c.state_floats(), 3 * (64 + 24) + 8 * 6 * 8);
    EXPECT_TRUE(c.steps.least == 0.0 && std::isinf(c.steps.most));
    EXPECT_TRUE((shape_of(c, "0.mamba.in_proj.weight") == std::vector<int64_t>{160, 32}));
    EXPECT_TRUE((shape_of(c, "0.mamba.conv1d.weight") == std::vector<int64_t>{88, 1, 4}));
    EXPECT_TRUE((shape_of(c, "0.mamba.conv1d.bias") == std::vector<int64_t>{88}));
    EXPECT_TRUE((shape_of(c, "0.mamba.norm.weight") == std::vector<int64_t>{64}));
    EXPECT_TRUE((shape_of(c, "0.mamba.D") == std::vector<int64_t>{8}));
    EXPECT_TRUE((shape_of(c, "0.mamba.out_proj.weight") == std::vector<int64_t>{32, 64}));
    EXPECT_TRUE(shape_of(c, "1.mamba.D").empty());
  }
}

TEST(bounds_of_time_steps_are_read_and_written) {
  const model::ModelConfig both = test::parse(mamba({{"time_step_limit", "[0.01, 2.5]"}})), one = test::parse(mamba({{"time_step_limit", R"([0.01, {"__float__": "Infinity"}])"}}));
  EXPECT_TRUE(both.steps.least == 0.01 && both.steps.most == 2.5 && one.steps.least == 0.01 && std::isinf(one.steps.most));
  const model::ModelConfig again = test::parse(test::written(both));
  EXPECT_TRUE(again.steps.least == 0.01 && again.steps.most == 2.5 && std::isinf(test::parse(test::written(one)).steps.most));
  EXPECT_THROWS(test::parse(mamba({{"time_step_limit", "[0.5]"}})), Code::kConfig);
  EXPECT_THROWS(test::parse(mamba({{"time_step_limit", "[0.5, 0.2]"}})), Code::kConfig);
  EXPECT_THROWS(test::parse(mamba({{"time_step_limit", R"([0, {"__float__": "NaN"}])"}})), Code::kConfig);
}

TEST(experts_lie_beside_a_shared_mlp_each_matrix_as_one_tensor_of_all) {
  const model::ModelConfig first = test::parse(mamba({{"num_local_experts", "6"}, {"num_experts_per_tok", "2"}, {"intermediate_size", "20"}}));
  for (const model::ModelConfig& c : {first, test::parse(test::written(first))}) {
    EXPECT_TRUE(c.mixes() && c.experts.normalized && c.experts.count == 6 && c.experts.chosen == 2);
    EXPECT_TRUE(c.experts.width == 20 && c.experts.shared_width == 48);
    EXPECT_TRUE((shape_of(c, "1.block_sparse_moe.router.layer.weight") == std::vector<int64_t>{6, 32}));
    EXPECT_TRUE((shape_of(c, "1.block_sparse_moe.input_linear.weight") == std::vector<int64_t>{6, 40, 32}));
    EXPECT_TRUE((shape_of(c, "1.block_sparse_moe.output_linear.weight") == std::vector<int64_t>{6, 32, 20}));
    EXPECT_TRUE((shape_of(c, "1.shared_mlp.input_linear.weight") == std::vector<int64_t>{96, 32}));
  }
}

TEST(what_is_not_here_is_refused) {
  EXPECT_THROWS(test::parse(mamba({{"layer_types", R"(["mamba", "moe"])"}})), Code::kUnsupported);
  EXPECT_THROWS(test::parse(mamba({{"layer_types", "null"}})), Code::kConfig);  // no layer would have attention
  EXPECT_THROWS(test::parse(mamba({{"mamba_conv_bias", "false"}})), Code::kUnsupported);
  EXPECT_THROWS(test::parse(mamba({{"mamba_proj_bias", "true"}})), Code::kUnsupported);
  EXPECT_THROWS(test::parse(mamba({{"mamba_d_head", "9"}})), Code::kConfig);
  EXPECT_THROWS(test::parse(mamba({{"mamba_n_groups", "3"}})), Code::kConfig);
  EXPECT_THROWS(test::parse(mamba({{"mamba_d_state", "0"}})), Code::kConfig);
  EXPECT_THROWS(test::parse(mamba({{"mamba_d_conv", "9"}})), Code::kConfig);
}

}  // namespace
}  // namespace model_archs_granite_test
