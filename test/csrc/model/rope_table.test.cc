// Rotary frequencies compared with transformers' (golden data), and angles with long double. Faults put into
// the code: llama3 thresholds swapped, yarn ramp reversed, attention factor left out, sin before cos. Each is
// detected.
#include "model/rope_table.h"

#include "check.h"
#include "model/goldens.h"

namespace model_rope_table_test {
namespace {

using namespace hone;
using model::RopeConfig;

TEST(frequencies_equal_those_of_transformers) {
  if (test::goldens().empty()) SKIP("no golden data");
  for (const auto& entry : std::filesystem::directory_iterator(test::goldens() + "/models")) {
    const std::string folder = entry.path().string();
    const model::ModelConfig c = model::parse_hf_config(test::read_json(folder + "/config.json"), folder.c_str());
    const Json golden = test::read_json(folder + "/golden.json");
    const auto wanted = test::numbers<double>(golden, "rope_inv_freq");
    const auto found = model::rope_frequencies(c.rope, c.head_dim);
    EXPECT_EQ(found.size(), wanted.size());
    // golden data are f32
    for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i] / wanted[i], 1.0, 1e-6);
    EXPECT_NEAR(model::rope_attention_factor(c.rope), test::at(golden, "rope_attention_factor").as_double("g"), 1e-6);
  }
}

TEST(linear_scaling_divides_every_frequency) {
  RopeConfig plain, linear;
  linear.kind = RopeConfig::Kind::kLinear;
  linear.factor = 4.0;
  const auto a = model::rope_frequencies(plain, 16), b = model::rope_frequencies(linear, 16);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(b[i], a[i] / 4.0, 0.0);
  EXPECT_EQ(model::rope_attention_factor(linear), 1.0);
}

TEST(yarn_without_truncation_keeps_fractional_bounds) {
  RopeConfig cut;
  cut.kind = RopeConfig::Kind::kYarn;
  cut.factor = 8.0;
  cut.original_max_positions = 100;
  RopeConfig exact = cut;
  exact.yarn_truncate = false;
  const auto plain = model::rope_frequencies(RopeConfig{}, 32);
  const auto a = model::rope_frequencies(cut, 32), b = model::rope_frequencies(exact, 32);
  EXPECT_EQ(a.front(), plain.front());               // high frequencies are unchanged
  EXPECT_NEAR(a.back(), plain.back() / 8.0, 1e-18);  // low frequencies are interpolated
  EXPECT_EQ(b.front(), plain.front());
  bool differs = false;
  for (size_t i = 0; i < a.size(); ++i) differs = differs || a[i] != b[i];
  EXPECT_TRUE(differs);
}

TEST(angles_are_exact_at_long_positions) {
  RopeConfig rope;
  rope.theta = 1e9;
  ThreadPool pool(2);
  Stream one, two;
  two.pool = &pool;
  const int64_t P = 30000, D = 10;
  const auto table = model::RopeTable::make(one, rope, D, P), other = model::RopeTable::make(two, rope, D, P);
  EXPECT_TRUE(test::same_bits(table->view().as<float>(), other->view().as<float>(), P * D));
  for (int64_t p : {int64_t(0), int64_t(1), int64_t(8191), P - 1}) {
    for (int64_t i = 0; i < D / 2; ++i) {
      const long double angle = (long double)(p) * std::pow(1e9L, -2.0L * i / D);
      // One f32 rounding of values up to 1, plus the f64 angle's own error of 1e-11.
      EXPECT_NEAR(table->view().row<float>(p)[i], double(std::cos(angle)), 6e-8);
      EXPECT_NEAR(table->view().row<float>(p)[D / 2 + i], double(std::sin(angle)), 6e-8);
    }
  }
}

}  // namespace
}  // namespace model_rope_table_test
