// TensorBlock: where each tensor lies, and that all start as zeros.
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

TEST(values_of_bf16_take_half_the_memory_and_come_back_and_others_stay_f32) {
  model::Parameters parameters(test::tiny_config());
  test::roughen(parameters, 3);
  const TensorView flat = parameters.flat();
  for (int64_t i = 0; i < flat.numel(); ++i) flat.as<float>()[i] = bf16_to_f32(f32_to_bf16(flat.as<float>()[i]));
  const std::vector<float> before(flat.as<float>(), flat.as<float>() + flat.numel());
  const int64_t live = Arena::live_bytes(Memory::kHost);
  EXPECT_TRUE(parameters.store_as(DType::kBF16));
  EXPECT_EQ(live - Arena::live_bytes(Memory::kHost), flat.numel() * 2);
  const TensorView o = parameters.layer(1).o;
  EXPECT_TRUE(o.dtype == DType::kBF16 && o.data == parameters.view("model.layers.1.self_attn.o_proj.weight").data);
  EXPECT_TRUE(parameters.store_as(DType::kF32));
  EXPECT_TRUE(test::same_bits(before.data(), parameters.flat().as<float>(), int64_t(before.size())));
  parameters.flat().as<float>()[5] = 1.0f + 0x1p-20f;
  EXPECT_TRUE(!parameters.store_as(DType::kBF16) && parameters.dtype() == DType::kF32 && parameters.layer(1).o.dtype == DType::kF32);
}

}  // namespace
}  // namespace model_tensor_block_test
