// Ministral-3: the context ends where queries begin to be scaled by their position.
#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_ministral3_test {
namespace {

using namespace hone;

TEST(the_context_ends_where_queries_would_be_scaled) {
  Json json = test::hf_config("ministral3", "head_dim", "16");
  json.set("rope_parameters", Json::parse(R"({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32,
    "mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1, "rope_theta": 1e6})", "t"));
  for (const model::ModelConfig& c : {test::parse(json), test::parse(test::written(test::parse(json)))}) {
    EXPECT_EQ(c.max_positions, 32);
    EXPECT_EQ(c.rope.attention_factor, 1.0);  // computed from mscale and mscale_all_dim
  }
  json.set("rope_parameters", Json::parse(R"({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32})", "t"));
  EXPECT_EQ(test::parse(json).max_positions, 128);
}

}  // namespace
}  // namespace model_archs_ministral3_test
