// Which activation a config's MLP has.
#include "model/activation.h"

#include "check.h"
#include "kernels/swiglu.h"

namespace model_activation_test {
namespace {

using namespace hone;
using namespace hone::test;

TEST(an_mlp_without_a_gate_squares_and_others_multiply_by_the_gate) {
  std::vector<float> x = random_floats(24), y = poison(12), wanted = poison(12);
  model::ModelConfig c;
  model::activate({}, c, f32(x.data(), {2, 12}), f32(y.data(), {2, 6}));
  kernels::swiglu({}, {.gate_up = f32(x.data(), {2, 12}), .y = f32(wanted.data(), {2, 6})});
  EXPECT_TRUE(same_bits(y.data(), wanted.data(), 12));
  c.squared_relu = true;
  EXPECT_EQ(c.gate_up_width(6), 6);
  model::activate({}, c, f32(x.data(), {2, 6}), f32(y.data(), {2, 6}));
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(y[i], x[i] > 0 ? x[i] * x[i] : 0.0f);
  std::vector<float> dy = random_floats(12), d = x, again = poison(12);
  model::activate_grad({}, c, f32(d.data(), {2, 6}), f32(dy.data(), {2, 6}), f32(again.data(), {2, 6}));
  EXPECT_TRUE(same_bits(y.data(), again.data(), 12));
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(d[i], x[i] > 0 ? 2 * x[i] * dy[i] : 0.0f);
}

}  // namespace
}  // namespace model_activation_test
