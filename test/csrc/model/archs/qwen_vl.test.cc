// The text models of Qwen2.5-VL and Qwen3-VL parse as Qwen2 and Qwen3, in every form that their configs have.
#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_qwen_vl_test {
namespace {

using namespace hone;

const char* const kAxes = R"({"rope_type": "mrope", "mrope_section": [1, 1, 2], "mrope_interleaved": true})";

TEST(text_models_are_those_of_qwen) {
  Json flat = test::hf_config("qwen2_5_vl"), inner = test::hf_config("qwen3_vl_text", "head_dim", "16"), wrapper = Json::object();
  flat.set("rope_scaling", Json::parse(kAxes, "t"));
  flat.set("vision_config", Json::parse(R"({"depth": 32})", "t"));
  inner.set("rope_scaling", Json::parse(kAxes, "t"));
  wrapper.set("model_type", Json::string("qwen3_vl"));
  wrapper.set("text_config", inner);
  const model::ModelConfig second = test::parse(flat), third = test::parse(wrapper);
  EXPECT_TRUE(second.arch == "qwen2" && second.qkv_bias && second.rope.kind == model::RopeConfig::Kind::kDefault);
  EXPECT_TRUE(third.arch == "qwen3" && third.qk_norm && third.rope.kind == model::RopeConfig::Kind::kDefault);
  Json nested = Json::object();
  nested.set("model_type", Json::string("qwen2_5_vl"));
  nested.set("text_config", test::hf_config("qwen2_5_vl_text"));
  EXPECT_EQ(test::parse(nested).arch, std::string("qwen2"));
}

}  // namespace
}  // namespace model_archs_qwen_vl_test
