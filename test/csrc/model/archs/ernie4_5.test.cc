// ERNIE-4.5 dense: rotary pairs are neighbouring dimensions; no biases.
#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_ernie4_5_test {
namespace {

using namespace hone;

TEST(whole_heads_are_rotated_by_neighbours_and_biases_refused) {
  const model::ModelConfig c = test::parse(test::hf_config("ernie4_5", "head_dim", "16"));
  EXPECT_TRUE(c.rope.interleaved && c.rotary_dim() == 16 && c.tied_head && !c.qkv_bias);
  EXPECT_THROWS(test::parse("ernie4_5", "use_bias", "true"), Code::kUnsupported);
}

}  // namespace
}  // namespace model_archs_ernie4_5_test
