// Gemma-2: layers alternate between sliding-window and full attention.
#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_gemma2_test {
namespace {

using namespace hone;

TEST(even_layers_have_the_window) {
  for (const model::ModelConfig& c : {test::parse("gemma2", "sliding_window", "16"), test::parse(test::written(test::parse("gemma2", "sliding_window", "16")))}) {
    EXPECT_EQ(c.window(0), 16);
    EXPECT_EQ(c.window(1), 0);
  }
  EXPECT_EQ(test::parse("gemma2", "layer_types", R"(["full_attention", "sliding_attention"])").window(0), 0);
}

}  // namespace
}  // namespace model_archs_gemma2_test
