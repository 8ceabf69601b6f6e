// SmolLM3: layers without rotary embedding, given by a list or by an interval.
#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_smollm3_test {
namespace {

using namespace hone;

TEST(every_fourth_layer_is_not_rotated_unless_a_list_says_otherwise) {
  const model::ModelConfig four = test::parse("smollm3", "num_hidden_layers", "4");
  EXPECT_TRUE(four.rotates(0) && four.rotates(2) && !four.rotates(3));
  const model::ModelConfig listed = test::parse("smollm3", "no_rope_layers", "[0, 1]");
  EXPECT_TRUE(!listed.rotates(0) && listed.rotates(1));
  EXPECT_TRUE(test::parse(test::hf_config("smollm3")).tied_head);
  const model::ModelConfig again = test::parse(test::written(listed));
  EXPECT_TRUE(!again.rotates(0) && again.rotates(1));
}

TEST(a_window_holds_where_there_are_no_positions) {
  Json json = test::hf_config("smollm3", "no_rope_layers", "[0, 1]");
  json.set("sliding_window", Json::integer(16));
  EXPECT_EQ(test::parse(json).window(0), 0);
  json.set("use_sliding_window", Json::boolean(true));
  EXPECT_EQ(test::parse(json).window(0), 16);
  EXPECT_EQ(test::parse(json).window(1), 0);
}

}  // namespace
}  // namespace model_archs_smollm3_test
