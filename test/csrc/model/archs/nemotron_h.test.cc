// Nemotron-H: kinds of layers, names and shapes of tensors, experts. published_models.test.cc compares numbers.
#include "check.h"
#include "model/archs/fixture.h"
#include "model/weight_folder.h"

namespace model_archs_nemotron_h_test {
namespace {

using namespace hone;

/// Width 32; Mamba-2 of four heads of 6 in two groups; five experts.
Json nemotron(const char* pattern, std::initializer_list<std::pair<const char*, const char*>> fields = {}) {
  Json json = test::hf_config("nemotron_h", "hidden_act");
  json.set("hybrid_override_pattern", Json::string(pattern));
  for (const auto& [name, value] : {std::pair{"head_dim", "8"}, {"mamba_num_heads", "4"}, {"mamba_head_dim", "6"}, {"ssm_state_size", "5"}, {"n_groups", "2"}, {"n_routed_experts", "5"},
                                    {"num_experts_per_tok", "2"}, {"moe_intermediate_size", "12"}, {"moe_shared_expert_intermediate_size", "20"}}) json.set(name, Json::parse(value, "t"));
  for (const auto& [name, value] : fields) json.set(name, Json::parse(value, "t"));
  return json;
}

std::vector<int64_t> shape_of(const model::ModelConfig& c, const std::string& name) {
  for (const auto& spec : model::tensor_specs(c)) {
    if (spec.name == "model." + name) return spec.shape;
  }
  return {};
}

TEST(every_layer_is_of_the_kind_that_the_pattern_or_the_list_says) {
  const model::ModelConfig by_pattern = test::parse(nemotron("M-*E"));
  const model::ModelConfig by_list = test::parse(nemotron("-", {{"layers_block_type", R"(["mamba", "mlp", "full_attention", "moe"])"}}));
  for (const model::ModelConfig& c : {by_pattern, by_list, test::parse(test::written(by_pattern))}) {
    EXPECT_EQ(c.layers, 4);
    EXPECT_TRUE(c.is_linear(0) && !c.attends(0) && !c.has_mlp(0));
    EXPECT_TRUE(c.has_mlp(1) && !c.mixes_tokens(1) && !c.attends(1) && !c.mixes(1));
    EXPECT_TRUE(c.attends(2) && !c.is_linear(2) && !c.has_mlp(2) && !c.rotates(2));
    EXPECT_TRUE(c.mixes(3) && !c.mixes_tokens(3));
    EXPECT_TRUE(c.attention_layers() == 1 && c.index_in_kind(2) == 0 && c.kind(3) == c.kind(1) && c.kind(0) != c.kind(1) && c.kind(0) != c.kind(2));
    EXPECT_EQ(c.state_floats(), 3 * (24 + 20) + 4 * 5 * 6);
  }
  EXPECT_EQ(test::parse(nemotron("M*M*")).index_in_kind(3), 1);
  EXPECT_THROWS(test::parse(nemotron("M*X")), Code::kUnsupported);
  EXPECT_THROWS(test::parse(nemotron("MM-")), Code::kConfig);  // no layer of attention
}

TEST(tensors_have_the_names_of_files) {
  const model::ModelConfig c = test::parse(nemotron("M-*E"));
  EXPECT_TRUE((shape_of(c, "embeddings.weight") == std::vector<int64_t>{100, 32}));
  EXPECT_TRUE((shape_of(c, "layers.0.mixer.in_proj.weight") == std::vector<int64_t>{24 + 44 + 4, 32}));
  EXPECT_TRUE((shape_of(c, "layers.0.mixer.norm.weight") == std::vector<int64_t>{24}));
  EXPECT_TRUE(c.delta.norms == 2 && shape_of(c, "layers.0.mixer.up_proj.weight").empty());
  for (const char* layer : {"0", "1", "2", "3"}) EXPECT_TRUE((shape_of(c, std::string("layers.") + layer + ".norm.weight") == std::vector<int64_t>{32}));
  EXPECT_TRUE((shape_of(c, "layers.1.mixer.up_proj.weight") == std::vector<int64_t>{64, 32}) && shape_of(c, "layers.1.mixer.gate_proj.weight").empty());
  EXPECT_TRUE((shape_of(c, "layers.2.mixer.k_proj.weight") == std::vector<int64_t>{16, 32}));
  EXPECT_TRUE((shape_of(c, "layers.3.mixer.experts.4.up_proj.weight") == std::vector<int64_t>{12, 32}));
  EXPECT_TRUE((shape_of(c, "layers.3.mixer.shared_experts.down_proj.weight") == std::vector<int64_t>{32, 20}));
  EXPECT_TRUE((shape_of(c, "layers.3.mixer.gate.e_score_correction_bias") == std::vector<int64_t>{5}));
  EXPECT_TRUE((shape_of(c, "norm_f.weight") == std::vector<int64_t>{32}));
  EXPECT_EQ(model::text_model_name("backbone.layers.0.mixer.D"), std::string("model.layers.0.mixer.D"));
}

TEST(time_steps_have_a_lower_bound) {
  const model::ModelConfig c = test::parse(nemotron("M*", {{"time_step_min", "0.25"}}));
  EXPECT_TRUE(c.steps.least == 0.25 && test::parse(test::written(c)).steps.least == 0.25 && test::parse(nemotron("M*")).steps.least == 0.001);
}

TEST(what_is_not_here_is_refused) {
  EXPECT_THROWS(test::parse(nemotron("M*E", {{"moe_latent_size", "16"}})), Code::kUnsupported);
  EXPECT_EQ(test::parse(nemotron("M*-", {{"moe_latent_size", "16"}})).experts.count, 0);  // no layer has experts
  EXPECT_THROWS(test::parse(nemotron("M*-", {{"mlp_hidden_act", R"("silu")"}})), Code::kUnsupported);
  for (const char* field : {"use_bias", "mlp_bias", "attention_bias", "mamba_proj_bias"}) EXPECT_THROWS(test::parse(nemotron("M*-", {{field, "true"}})), Code::kUnsupported);
  EXPECT_THROWS(test::parse(nemotron("M*-", {{"use_conv_bias", "false"}})), Code::kUnsupported);
  EXPECT_THROWS(test::parse(nemotron("M*-", {{"n_groups", "3"}})), Code::kConfig);
}

}  // namespace
}  // namespace model_archs_nemotron_h_test
