// MiniCPM: Granite's multipliers under other names, so its network is Granite's.
#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_minicpm_test {
namespace {

using namespace hone;

TEST(its_multipliers_are_those_of_granite) {
  Json json = test::hf_config("minicpm"), granite = test::hf_config("granite");
  json.set("scale_emb", Json::number(12.0)), json.set("scale_depth", Json::number(1.4)), json.set("dim_model_base", Json::number(8.0));
  granite.set("embedding_multiplier", Json::number(12.0)), granite.set("residual_multiplier", Json::number(1.4 / std::sqrt(2.0)));
  granite.set("logits_scaling", Json::number(4.0)), granite.set("attention_multiplier", Json());
  const model::ModelConfig wanted = test::parse(granite);
  for (const model::ModelConfig& c : {test::parse(json), test::parse(test::written(test::parse(json)))}) {
    EXPECT_EQ(c.embedding_scale, wanted.embedding_scale);
    EXPECT_NEAR(c.residual_scale, wanted.residual_scale, 1e-7);
    EXPECT_EQ(c.logits_scaling, wanted.logits_scaling);
  }
}

}  // namespace
}  // namespace model_archs_minicpm_test
