// Merging attention states, compared with the sums over both sets of keys.
#include "kernels/attention_state.h"

#include "check.h"

namespace kernels_attention_state_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity();
float natural(float x) { return std::exp(x); }

struct State {
  float maximum = kNone;
  double total = 0, out = 0;
};
State state_of(const std::vector<float>& scores, const std::vector<float>& values, size_t begin, size_t end) {
  State s;
  for (size_t i = begin; i < end; ++i) s.maximum = std::max(s.maximum, scores[i]);
  for (size_t i = begin; i < end; ++i) {
    s.total += std::exp(double(scores[i]) - s.maximum);
    s.out += std::exp(double(scores[i]) - s.maximum) * double(values[i]);
  }
  return s;
}
State merged(const State& a, const State& b) {
  const MergeWeights w = merge_weights(a.maximum, b.maximum, natural);
  return {w.maximum, a.total * double(w.a) + b.total * double(w.b), a.out * double(w.a) + b.out * double(w.b)};
}

}  // namespace

TEST(two_states_merge_to_the_state_of_all_keys) {
  const std::vector<float> scores = random_floats(40, 10.0f), values = random_floats(40);
  const State all = state_of(scores, values, 0, 40);
  for (const size_t cut : {0u, 1u, 20u, 39u, 40u}) {
    const State got = merged(state_of(scores, values, 0, cut), state_of(scores, values, cut, 40));
    EXPECT_EQ(got.maximum, all.maximum);
    EXPECT_NEAR(got.total, all.total, 1e-6 * all.total);
    EXPECT_NEAR(got.out, all.out, 1e-6 * all.total);
  }
}

TEST(a_state_without_keys_changes_nothing) {
  for (const float m : {-3.0e38f, -1.0f, 0.0f, 7.5f}) {
    const MergeWeights left = merge_weights(m, kNone, natural), right = merge_weights(kNone, m, natural);
    EXPECT_EQ(left.maximum, m);
    EXPECT_EQ(left.a, 1.0f);
    EXPECT_EQ(left.b, 0.0f);
    EXPECT_EQ(right.maximum, m);
    EXPECT_EQ(right.a, 0.0f);
    EXPECT_EQ(right.b, 1.0f);
  }
}

TEST(two_states_without_keys_stay_without) {
  const MergeWeights w = merge_weights(kNone, kNone, natural);
  EXPECT_EQ(w.maximum, kNone);
  EXPECT_EQ(w.a, 0.0f);
  EXPECT_EQ(w.b, 0.0f);
}

}  // namespace kernels_attention_state_test
