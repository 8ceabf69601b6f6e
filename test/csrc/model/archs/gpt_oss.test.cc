// gpt-oss: sinks, biases and the clamp; rotary settings that the file lacks; what is refused; which tensors
// have weight decay.
#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_gpt_oss_test {
namespace {

using namespace hone;

Json gpt_oss(std::initializer_list<std::pair<const char*, const char*>> fields) {
  Json json = test::hf_config("gpt_oss");
  for (const auto& [name, value] : fields) json.set(name, Json::parse(value, name));
  return json;
}
bool has_tensor(const model::ModelConfig& c, const std::string& tensor, const std::vector<int64_t>& shape) {
  for (const auto& spec : model::tensor_specs(c)) {
    if (spec.name == tensor) return spec.shape == shape;
  }
  return false;
}
std::string refusal(const Json& json) {
  try {
    test::parse(json);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(gpt_oss_has_sinks_biases_and_experts_in_one_tensor) {
  Json json = gpt_oss({{"num_local_experts", "8"}, {"num_experts_per_tok", "2"}, {"sliding_window", "5"}, {"swiglu_limit", "7.0"},
                                 {"quantization_config", R"({"quant_method": "mxfp4"})"}, {"rope_scaling", "null"}});
  const model::ModelConfig c = test::parse(json);
  EXPECT_TRUE(c.sinks && c.o_bias && c.qkv_bias && c.experts.normalized && c.experts.turned && c.experts.biases && c.experts.limit == 7.0);
  EXPECT_TRUE(c.window(0) == 5 && c.window(1) == 0);
  EXPECT_TRUE(c.rope.kind == model::RopeConfig::Kind::kYarn && !c.rope.yarn_truncate);
  EXPECT_TRUE(has_tensor(c, "model.layers.0.self_attn.sinks", {4}) && has_tensor(c, "model.layers.1.self_attn.o_proj.bias", {32}));
  EXPECT_TRUE(has_tensor(c, "model.layers.0.mlp.router.bias", {8}) && has_tensor(c, "model.layers.0.mlp.experts.gate_up_proj", {8, 32, 128}));
  EXPECT_TRUE(has_tensor(c, "model.layers.1.mlp.experts.gate_up_proj_bias", {8, 128}) && has_tensor(c, "model.layers.1.mlp.experts.down_proj", {8, 64, 32}));
  EXPECT_EQ(model::to_hf_config(test::parse(test::written(c))).dump(), model::to_hf_config(c).dump());
  json.set("rope_scaling", Json::parse(R"({"rope_type": "default"})", "t"));
  EXPECT_TRUE(test::parse(json).rope.kind == model::RopeConfig::Kind::kDefault);
  json.set("swiglu_limit", Json::number(5.0));
  EXPECT_TRUE(refusal(json).find("swiglu_limit") != std::string::npos);
  json.set("quantization_config", Json::parse(R"({"quant_method": "awq"})", "t"));
  EXPECT_TRUE(refusal(json).find("mxfp4 and fp8 are") != std::string::npos);
}

TEST(decay_reaches_matrices_of_experts_and_no_bias_or_sink) {
  const model::ModelConfig c = test::parse(gpt_oss({{"num_local_experts", "8"}, {"num_experts_per_tok", "2"}}));
  for (const auto& spec : model::tensor_specs(c)) {
    const bool plain = spec.name.ends_with("bias") || spec.name.ends_with("sinks") || spec.name.find("norm") != std::string::npos;
    EXPECT_EQ(model::is_decayed(spec), !plain);
  }
}

}  // namespace
}  // namespace model_archs_gpt_oss_test
