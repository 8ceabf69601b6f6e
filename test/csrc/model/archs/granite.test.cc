// Granite: its four multipliers.
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

TEST(a_layer_of_mamba_is_refused_by_its_name) {
  for (const char* layers : {R"(["mamba", "attention"])", R"(["linear_attention", "attention"])", "null"}) {
    try {
      test::parse(hybrid(layers));
      test::report(__FILE__, __LINE__, std::string(layers) + " was accepted");
    } catch (const Error& e) {
      EXPECT_TRUE(e.code() == Code::kUnsupported && std::string(e.what()).find("layers of attention") != std::string::npos);
    }
  }
}

}  // namespace
}  // namespace model_archs_granite_test
