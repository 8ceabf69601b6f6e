// AdaptedWeights: which matrices are computed again, and when. test/csrc/model/adapters.test.cc and
// contract/adapters.test.cc test their values.
#include "trainer/adapted_weights.h"

#include "check.h"
#include "model/reference.h"

namespace trainer_adapted_weights_test {
namespace {

using namespace hone;

TEST(what_no_adapter_changes_is_formed_once_for_each_base) {
  const model::ModelConfig model = test::tiny_config();
  model::Parameters base(model);
  test::roughen(base, 1);
  const std::vector<float> before(base.flat().as<float>(), base.flat().as<float>() + base.flat().numel());
  model::Adapters adapters(model, {2, 2.0f, {"q_proj"}, 1}, Stream{});
  for (const auto& spec : adapters.block().specs()) std::fill_n(adapters.block().view(spec).as<float>(), spec.numel(), 0.5f);
  trainer::AdaptedWeights weights(Stream{}, base, adapters);
  weights.prepare();
  const model::LayerViews& layer = base.layer(1);
  EXPECT_TRUE(weights.form(layer.o, true).data == layer.o.data);
  const TensorView qkv = weights.form(layer.qkv, true);
  EXPECT_NEAR(qkv.as<float>()[0], layer.qkv.as<float>()[0] + 0.5f, 1e-6);  // alpha / rank times 2 * 0.5 * 0.5
  const int64_t k_row = model.q_width() * model.width;
  EXPECT_EQ(qkv.as<float>()[k_row], layer.qkv.as<float>()[k_row]);
  weights.packed();
  EXPECT_TRUE(weights.form(layer.o, true).empty() && !weights.form(layer.qkv, true).empty());
  EXPECT_TRUE(weights.form(layer.o, false).data == layer.o.data);
  weights.base_changed();
  EXPECT_TRUE(weights.form(layer.o, true).data == layer.o.data);
  EXPECT_TRUE(test::same_bits(before.data(), base.flat().as<float>(), base.flat().numel()));
}

}  // namespace
}  // namespace trainer_adapted_weights_test
