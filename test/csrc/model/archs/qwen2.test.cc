// Qwen2: biases on q, k and v; a sliding window, on some layers or all, that must be switched on. Faults put
// into the code: use_sliding_window ignored, layer_types ignored. Each is detected.
#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_qwen2_test {
namespace {

using namespace hone;

Json with_window(bool used) {
  Json json = test::hf_config("qwen2", "sliding_window", "16");
  json.set("use_sliding_window", Json::boolean(used));
  return json;
}

TEST(projections_have_biases) {
  const model::ModelConfig c = test::parse(test::hf_config("qwen2"));
  EXPECT_TRUE(c.qkv_bias && !c.qk_norm);
}

TEST(a_window_without_its_switch_is_none) {
  EXPECT_EQ(test::parse("qwen2", "sliding_window", "16").sliding_window, 0);
  Json off = with_window(false);
  off.set("max_window_layers", Json::integer(0));
  EXPECT_EQ(test::parse(off).sliding_window, 0);
  EXPECT_EQ(test::parse(with_window(true)).sliding_window, 0);  // every layer lies below max_window_layers
}

TEST(a_window_on_all_layers_or_on_some_is_read) {
  Json all = with_window(true), half = with_window(true);
  all.set("max_window_layers", Json::integer(0));
  half.set("max_window_layers", Json::integer(1));
  EXPECT_EQ(test::parse(all).window(0), 16);
  EXPECT_EQ(test::parse(all).window(1), 16);
  for (const model::ModelConfig& c : {test::parse(half), test::parse(test::written(test::parse(half)))}) {
    EXPECT_EQ(c.window(0), 0);
    EXPECT_EQ(c.window(1), 16);
  }
  EXPECT_EQ(test::parse(test::written(test::parse(all))).sliding_window, 16);
}

TEST(layer_types_decide_when_given) {
  Json named = with_window(true), odd = with_window(true);
  named.set("layer_types", Json::parse(R"(["sliding_attention", "sliding_attention"])", "t"));
  odd.set("layer_types", Json::parse(R"(["chunked_attention", "full_attention"])", "t"));
  EXPECT_EQ(test::parse(named).sliding_window, 16);
  EXPECT_THROWS(test::parse(odd), Code::kUnsupported);
}

}  // namespace
}  // namespace model_archs_qwen2_test
