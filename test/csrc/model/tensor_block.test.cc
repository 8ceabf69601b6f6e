// Tensors in one block: where each lies, and what it begins as.
#include "model/tensor_block.h"

#include "check.h"
#include "model/reference.h"

namespace model_tensor_block_test {
namespace {

using namespace hone;

TEST(tensors_lie_where_their_specs_say_and_begin_as_zeros) {
  const std::vector<model::TensorSpec> specs{{"a", {2, 3}, 0, true}, {"b", {5}, 16, false}};
  model::TensorBlock block(test::tiny_config(), specs, Stream{});
  EXPECT_EQ(block.flat().numel(), 32);
  for (int64_t i = 0; i < 32; ++i) EXPECT_EQ(block.flat().as<float>()[i], 0.0f);
  block.write(block.view("b"), [](const TensorView& host) { host.as<float>()[4] = 7.0f; });
  EXPECT_EQ(block.flat().as<float>()[20], 7.0f);
  Arena none;
  EXPECT_EQ(block.read(block.view(specs[1]), none).as<float>()[4], 7.0f);
  EXPECT_TRUE(block.has("a") && !block.has("c"));
  EXPECT_THROWS(block.view("c"), Code::kFormat);
  block.zero();
  EXPECT_EQ(block.flat().as<float>()[20], 0.0f);
}

}  // namespace
}  // namespace model_tensor_block_test
