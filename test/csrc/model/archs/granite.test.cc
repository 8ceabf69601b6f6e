// Granite: four multipliers.
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

}  // namespace
}  // namespace model_archs_granite_test
