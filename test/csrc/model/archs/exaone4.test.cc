// EXAONE-4: in models without sliding windows every layer has rotary embedding; otherwise only layers with a
// window have it.
#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_exaone4_test {
namespace {

using namespace hone;

Json four_layers(const char* window, const char* pattern) {
  Json json = test::hf_config("exaone4", "num_hidden_layers", "4");
  json.set("sliding_window", Json::parse(window, "t"));
  json.set("sliding_window_pattern", Json::parse(pattern, "t"));
  return json;
}

TEST(layers_without_a_window_are_not_rotated_where_others_have_one) {
  for (const char* pattern : {"4", "\"LLLG\""}) {
    const model::ModelConfig first = test::parse(four_layers("16", pattern)), again = test::parse(test::written(first));
    for (const model::ModelConfig& c : {first, again}) {
      for (int64_t l = 0; l < 4; ++l) {
        EXPECT_EQ(c.window(l), l == 3 ? 0 : 16);
        EXPECT_EQ(c.rotates(l), l != 3);
      }
    }
  }
  const model::ModelConfig full = test::parse(test::written(test::parse(four_layers("null", "null"))));
  for (int64_t l = 0; l < 4; ++l) EXPECT_TRUE(full.rotates(l) && full.window(l) == 0);
}

TEST(a_window_that_no_layer_has_is_refused) {
  Json json = four_layers("16", "4");
  json.set("layer_types", Json::parse(R"(["full_attention", "full_attention", "full_attention", "full_attention"])", "t"));
  EXPECT_THROWS(test::parse(json), Code::kUnsupported);
}

}  // namespace
}  // namespace model_archs_exaone4_test
