// Mixtures of experts: which layers have experts, how they are scored, and what their tensors are called.
#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_moe_test {
namespace {

using namespace hone;

Json config(const char* type, std::initializer_list<std::pair<const char*, const char*>> fields) {
  Json json = test::hf_config(type);
  for (const auto& [name, value] : fields) json.set(name, Json::parse(value, name));
  return json;
}
bool has(const model::ModelConfig& c, const std::string& tensor, std::vector<int64_t> shape) {
  for (const auto& spec : model::tensor_specs(c)) {
    if (spec.name == tensor) return spec.shape == shape;
  }
  return false;
}
std::string message(const Json& json) {
  try {
    test::parse(json);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(qwen3_moe_mixes_the_layers_that_are_neither_skipped_nor_named) {
  Json json = config("qwen3_moe", {{"num_experts", "6"}, {"num_experts_per_tok", "2"}, {"moe_intermediate_size", "24"}, {"num_hidden_layers", "6"}});
  EXPECT_TRUE(test::parse(json).experts.layers.empty());
  json.set("decoder_sparse_step", Json::integer(2));
  json.set("mlp_only_layers", Json::parse("[3]", "t"));
  const model::ModelConfig c = test::parse(json);
  for (int64_t l = 0; l < 6; ++l) EXPECT_EQ(c.mixes(l), l == 1 || l == 5);
  EXPECT_TRUE(has(c, "model.layers.0.mlp.gate_proj.weight", {64, 32}));
  EXPECT_TRUE(has(c, "model.layers.1.mlp.gate.weight", {6, 32}));
  EXPECT_TRUE(has(c, "model.layers.5.mlp.experts.5.down_proj.weight", {32, 24}));
  const model::ModelConfig again = test::parse(test::written(c));
  for (int64_t l = 0; l < 6; ++l) EXPECT_EQ(again.mixes(l), c.mixes(l));
  json.set("mlp_only_layers", Json::parse("[1, 3, 5]", "t"));
  EXPECT_TRUE(message(json).find("leaves no layer with experts") != std::string::npos);
}

TEST(mixtral_calls_its_matrices_w1_w2_w3_and_divides_by_the_sum) {
  const model::ModelConfig c = test::parse(config("mixtral", {{"num_local_experts", "4"}}));
  EXPECT_TRUE(c.experts.normalized && !c.experts.sigmoid && c.experts.chosen == 2);
  EXPECT_TRUE(has(c, "model.layers.1.block_sparse_moe.gate.weight", {4, 32}));
  EXPECT_TRUE(has(c, "model.layers.0.block_sparse_moe.experts.3.w2.weight", {32, 64}));
  EXPECT_TRUE(has(c, "model.layers.0.block_sparse_moe.experts.0.w3.weight", {64, 32}));
}

TEST(olmoe_takes_the_scores_as_they_are) {
  const model::ModelConfig c = test::parse(config("olmoe", {{"num_experts", "16"}}));
  EXPECT_TRUE(!c.experts.normalized && c.qk_norm_whole && c.experts.width == 64);
  EXPECT_THROWS(test::parse(config("olmoe", {{"clip_qkv", "8.0"}})), Code::kUnsupported);
}

TEST(glm4_moe_begins_dense_and_has_experts_that_all_tokens_share) {
  Json json = config("glm4_moe", {{"n_routed_experts", "8"}, {"num_experts_per_tok", "2"}, {"moe_intermediate_size", "24"}, {"n_shared_experts", "2"},
                                  {"n_group", "4"}, {"topk_group", "2"}, {"routed_scaling_factor", "2.5"}});
  const model::ModelConfig c = test::parse(json);
  EXPECT_TRUE(!c.mixes(0) && c.mixes(1) && c.experts.sigmoid);
  EXPECT_EQ(c.experts.shared_width, 48);
  EXPECT_TRUE(has(c, "model.layers.1.mlp.shared_experts.up_proj.weight", {48, 32}));
  EXPECT_TRUE(has(c, "model.layers.1.mlp.gate.e_score_correction_bias", {8}));
  EXPECT_TRUE(has(c, "model.layers.0.mlp.down_proj.weight", {32, 64}));
  EXPECT_EQ(model::to_hf_config(test::parse(test::written(c))).dump(), model::to_hf_config(c).dump());
  json.set("routed_scaling_factor", Json::integer(1));
  EXPECT_TRUE(model::to_hf_config(test::parse(json)).dump().find("\"routed_scaling_factor\":1.0") != std::string::npos);
}

TEST(counts_that_cannot_be_are_refused_by_name) {
  const auto with = [](const char* field, const char* value) {
    Json json = config("glm4_moe", {{"n_routed_experts", "8"}, {"num_experts_per_tok", "2"}, {"moe_intermediate_size", "24"}});
    json.set(field, Json::parse(value, field));
    return message(json);
  };
  for (const auto& [field, value] : {std::pair{"num_experts_per_tok", "9"}, {"n_group", "3"}, {"topk_group", "2"}, {"moe_intermediate_size", "0"},
                                     {"routed_scaling_factor", "0"}, {"n_routed_experts", "0"}, {"first_k_dense_replace", "2"}}) {
    if (with(field, value).find(field) == std::string::npos) test::report(__FILE__, __LINE__, std::string(field) + ": " + with(field, value));
  }
}

}  // namespace
}  // namespace model_archs_moe_test
