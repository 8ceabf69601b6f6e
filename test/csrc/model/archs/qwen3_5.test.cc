// Qwen3.5: which layers are of which kind, default sizes of transformers' class, the wrapper around the text
// model, tensor names.
#include <algorithm>

#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_qwen3_5_test {
namespace {

using namespace hone;

Json with(std::initializer_list<std::pair<const char*, const char*>> fields) {
  Json json = test::hf_config("qwen3_5_text", "num_hidden_layers", "8");
  for (const auto& [name, value] : fields) json.set(name, Json::parse(value, "t"));
  return json;
}

/// One letter per layer: 'a' for attention, 'd' for DeltaNet.
std::string kinds(const model::ModelConfig& c) {
  std::string out;
  for (int64_t l = 0; l < c.layers; ++l) out += c.is_linear(l) ? 'd' : 'a';
  return out;
}

TEST(layers_are_of_the_kinds_that_the_list_or_the_interval_says) {
  EXPECT_EQ(kinds(test::parse(with({}))), std::string("dddaddda"));
  EXPECT_EQ(kinds(test::parse(with({{"full_attention_interval", "3"}}))), std::string("ddaddadd"));
  const model::ModelConfig c = test::parse(with({{"num_hidden_layers", "3"}, {"layer_types", R"(["full_attention", "linear_attention", "linear_attention"])"}}));
  EXPECT_EQ(kinds(c), std::string("add"));
  EXPECT_EQ(c.attention_layers(), int64_t(1));
  EXPECT_EQ(c.index_in_kind(2), int64_t(1));
  EXPECT_EQ(kinds(test::parse(test::written(c))), std::string("add"));
}

TEST(sizes_and_what_files_leave_out) {
  const model::ModelConfig c = test::parse(with({{"linear_num_value_heads", "48"}}));
  EXPECT_TRUE(c.gated_attention && c.qk_norm && c.norm_offset == 1.0f && !c.tied_head);
  EXPECT_EQ(c.rope.partial, 0.25);
  EXPECT_EQ(c.head_dim, int64_t(256));
  EXPECT_EQ(c.delta.key_heads, int64_t(16));
  EXPECT_EQ(c.delta.inputs(), int64_t(2 * 16 * 128 + 2 * 48 * 128 + 2 * 48));
  EXPECT_EQ(c.state_floats(), int64_t(6 * (3 * (2 * 16 * 128 + 48 * 128) + 48 * 128 * 128)));
}

TEST(tensors_have_the_names_and_shapes_of_files) {
  const auto specs = model::tensor_specs(test::parse(with({})));
  const auto rows = [&](const std::string& name) {
    const auto at = std::find_if(specs.begin(), specs.end(), [&](const auto& s) { return s.name == name; });
    return at == specs.end() ? std::vector<int64_t>{} : at->shape;
  };
  EXPECT_TRUE((rows("model.layers.3.self_attn.q_proj.weight") == std::vector<int64_t>{2 * 4 * 256, 32}));
  EXPECT_TRUE((rows("model.layers.0.linear_attn.in_proj_qkv.weight") == std::vector<int64_t>{8192, 32}));
  EXPECT_TRUE((rows("model.layers.0.linear_attn.conv1d.weight") == std::vector<int64_t>{8192, 1, 4}));
  EXPECT_TRUE((rows("model.layers.0.linear_attn.A_log") == std::vector<int64_t>{32}));
  EXPECT_TRUE((rows("model.layers.0.linear_attn.out_proj.weight") == std::vector<int64_t>{32, 4096}));
  EXPECT_TRUE(rows("model.layers.0.self_attn.q_proj.weight").empty());
}

TEST(a_fresh_model_has_the_vectors_of_transformers) {
  model::Parameters fresh(test::parse(with({})));
  fresh.initialize(3);
  const auto of = [&](const char* name) { return fresh.view("model.layers.0.linear_attn." + std::string(name)); };
  EXPECT_EQ(of("norm.weight").as<float>()[5], 1.0f);
  EXPECT_EQ(of("dt_bias").as<float>()[5], 1.0f);
  EXPECT_EQ(fresh.view("model.norm.weight").as<float>()[5], 0.0f);
  const float* rates = of("A_log").as<float>();
  for (int i = 0; i < 32; ++i) EXPECT_TRUE(rates[i] <= std::log(16.0f) && rates[i] > -20.0f);
  EXPECT_TRUE(*std::max_element(rates, rates + 32) - *std::min_element(rates, rates + 32) > 1.0f);
}

TEST(the_wrapper_is_its_text_model_and_says_whether_the_head_is_tied) {
  Json wrapper = Json::object();
  wrapper.set("model_type", Json::string("qwen3_5"));
  wrapper.set("text_config", with({{"mtp_num_hidden_layers", "1"}, {"mamba_ssm_dtype", R"("float32")"}}));
  wrapper.set("tie_word_embeddings", Json::boolean(true));
  const model::ModelConfig c = test::parse(wrapper);
  EXPECT_EQ(c.arch, std::string("qwen3_5_text"));
  EXPECT_TRUE(c.tied_head);
  EXPECT_EQ(test::written(c).find("architectures")->items("t")[0].as_string("t"), std::string("Qwen3_5ForCausalLM"));
}

TEST(what_is_not_here_is_refused) {
  EXPECT_THROWS(test::parse(with({{"attn_output_gate", "false"}})), Code::kUnsupported);
  EXPECT_THROWS(test::parse(with({{"attention_bias", "true"}})), Code::kUnsupported);
  EXPECT_THROWS(test::parse(with({{"num_hidden_layers", "1"}, {"layer_types", R"(["mamba"])"}})), Code::kUnsupported);
  EXPECT_THROWS(test::parse(with({{"layer_types", R"(["full_attention"])"}})), Code::kConfig);
  // no layer would have attention
  EXPECT_THROWS(test::parse(with({{"num_hidden_layers", "2"}})), Code::kConfig);
  EXPECT_THROWS(test::parse(with({{"linear_num_value_heads", "24"}})), Code::kConfig);
  EXPECT_THROWS(test::parse(with({{"linear_conv_kernel_dim", "9"}})), Code::kConfig);
  EXPECT_THROWS(test::parse(with({{"linear_key_head_dim", "0"}})), Code::kConfig);
}

TEST(mixtures_have_a_shared_expert_with_a_gate_and_qwen3_next_two_projections) {
  const auto shape_of = [](const model::ModelConfig& c, const std::string& tensor) {
    const auto specs = model::tensor_specs(c);
    const auto at = std::find_if(specs.begin(), specs.end(), [&](const auto& spec) { return spec.name == tensor; });
    return at == specs.end() ? std::vector<int64_t>{} : at->shape;
  };
  for (const char* type : {"qwen3_5_moe_text", "qwen3_next"}) {
    Json json = test::hf_config(type, "num_experts", "6");
    json.set("num_experts_per_tok", Json::integer(2));
    json.set("full_attention_interval", Json::integer(2));
    const model::ModelConfig c = test::parse(json);
    const bool next = c.arch == "qwen3_next";
    EXPECT_TRUE(c.experts.shared_gate && c.experts.normalized && c.delta_by_head == next);
    EXPECT_TRUE(shape_of(c, "model.layers.0.mlp.shared_expert_gate.weight") == (std::vector<int64_t>{1, 32}));
    EXPECT_TRUE(shape_of(c, "model.layers.0.mlp.shared_expert.down_proj.weight") == (std::vector<int64_t>{32, 512}));
    EXPECT_EQ(shape_of(c, "model.layers.0.linear_attn.in_proj_qkvz.weight").empty(), !next);
    EXPECT_EQ(shape_of(c, "model.layers.0.linear_attn.in_proj_qkv.weight").empty(), next);
    EXPECT_EQ(model::to_hf_config(test::parse(test::written(c))).dump(), model::to_hf_config(c).dump());
    json.set("num_experts", Json::integer(0));
    EXPECT_THROWS(test::parse(json), Code::kConfig);
  }
  EXPECT_THROWS(test::parse(test::hf_config("qwen3_next", "mlp_only_layers", "[1]")), Code::kUnsupported);
}

}  // namespace
}  // namespace model_archs_qwen3_5_test
