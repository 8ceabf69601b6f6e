// Attention's output gate and its gradient compared with f64, and splitting heads and gates out of one matrix
// and joining them.
#include "kernels/head_gate.h"

#include <cmath>

#include "each_isa.h"

namespace kernels_head_gate_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {
double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }
}  // namespace

TEST(heads_and_gates_are_split_and_joined_again) {
  const int64_t rows = 5, H = 3, D = 4, rest = 6, width = 2 * H * D + rest;
  const std::vector<float> joined = random_floats(rows * width);
  std::vector<float> heads = poison(rows * (H * D + rest)), gates = poison(rows * H * D), back = poison(rows * width);
  const auto args = [&](const std::vector<float>& whole) {
    return GatedHeads{f32(whole.data(), {rows, width}), f32(heads.data(), {rows, H * D + rest}), f32(gates.data(), {rows, H * D}), D};
  };
  split_gated_heads(two_threads(), args(joined));
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = joined.data() + r * width;
    for (int64_t h = 0; h < H; ++h) {
      for (int64_t i = 0; i < D; ++i) {
        EXPECT_EQ(heads[size_t(r * (H * D + rest) + h * D + i)], in[2 * h * D + i]);
        EXPECT_EQ(gates[size_t(r * H * D + h * D + i)], in[2 * h * D + D + i]);
      }
    }
    for (int64_t i = 0; i < rest; ++i) EXPECT_EQ(heads[size_t(r * (H * D + rest) + H * D + i)], in[2 * H * D + i]);
  }
  join_gated_heads({}, args(back));
  EXPECT_TRUE(same_bits(joined.data(), back.data(), rows * width));
}

TEST(the_gate_and_its_gradient_match_f64_also_in_place) {
  each_isa([] {
    for (const int64_t width : {1, 16, 37}) {
      const int64_t rows = 7, n = rows * width;
      const std::vector<float> x = random_floats(n), gate = random_floats(n, 3.0f), dy = random_floats(n);
      const auto of = [&](const std::vector<float>& v) { return f32(v.data(), {rows, width}); };
      std::vector<float> y = poison(n), dx = poison(n), dgate = poison(n), in_place = dy;
      head_gate(two_threads(), {of(x), of(gate), of(y)});
      head_gate_grad({}, {of(x), of(gate), of(dy), of(dx), of(dgate)});
      head_gate_grad({}, {of(x), of(gate), of(in_place), of(in_place), of(dgate)});
      EXPECT_TRUE(same_bits(dx.data(), in_place.data(), n));
      for (size_t i = 0; i < size_t(n); ++i) {
        const double s = sigmoid(double(gate[i])), h = 1e-5, slope = (sigmoid(double(gate[i]) + h) - sigmoid(double(gate[i]) - h)) / (2 * h);
        EXPECT_NEAR(y[i], double(x[i]) * s, 1e-6);
        EXPECT_NEAR(dx[i], double(dy[i]) * s, 1e-6);
        EXPECT_NEAR(dgate[i], double(dy[i]) * double(x[i]) * slope, 1e-6);
      }
    }
  });
}

TEST(a_gate_a_row_and_its_gradient_match_f64) {
  each_isa([] {
    for (const int64_t width : {1, 16, 37}) {
      const int64_t rows = 7, n = rows * width;
      const std::vector<float> x = random_floats(n), dy = random_floats(n);
      std::vector<float> gate = random_floats(rows, 3.0f), y = x, gated = dy, again = x, dgate = gate;
      const auto of = [&](const std::vector<float>& v) { return f32(v.data(), {rows, width}); };
      const auto column = [&](const std::vector<float>& v) { return f32(v.data(), {rows, 1}); };
      row_gate(two_threads(), {column(gate), of(y)});
      row_gate({}, {column(gate), of(gated)});
      row_gate_grad(two_threads(), {column(dgate), of(gated), of(again), column(dgate)});
      EXPECT_TRUE(same_bits(y.data(), again.data(), n));
      for (int64_t r = 0; r < rows; ++r) {
        const double s = sigmoid(double(gate[size_t(r)]));
        double dot = 0;
        for (int64_t i = r * width; i < (r + 1) * width; ++i) {
          EXPECT_NEAR(y[size_t(i)], double(x[size_t(i)]) * s, 1e-6);
          dot += double(x[size_t(i)]) * double(dy[size_t(i)]);
        }
        EXPECT_NEAR(dgate[size_t(r)], s * (1 - s) * dot, 1e-5);
      }
    }
  });
}

}  // namespace kernels_head_gate_test
