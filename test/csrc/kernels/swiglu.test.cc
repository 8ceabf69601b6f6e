// SwiGLU, silu(gate) up, and its gradient, compared with f64.
//
// Faults put into the code, each detected: gate and up swapped (matches_f64); slope s instead of s (1 + g (1
// - s)) (gradient); dup with silu' (gradient); the last partial vector left (poison).
#include "kernels/swiglu.h"

#include <algorithm>

#include "each_isa.h"

namespace kernels_swiglu_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

const int64_t kShapes[][2] = {{1, 1}, {3, 16}, {5, 31}, {200, 256}, {2, 1000}};

double silu(double g) { return g / (1 + std::exp(-g)); }
double gelu(double g) { return 0.5 * g * (1 + std::tanh(std::sqrt(2 / M_PI) * (g + 0.044715 * g * g * g))); }

}  // namespace

TEST(swiglu_matches_f64) {
  each_isa([] {
    for (const auto& s : kShapes) {
      const int64_t rows = s[0], width = s[1];
      std::vector<float> in = random_floats(rows * 2 * width, 3.0f);
      for (const Stream& stream : {Stream{}, two_threads()}) {
        std::vector<float> y = poison(rows * width);
        swiglu(stream, {f32(in.data(), {rows, 2 * width}), f32(y.data(), {rows, width})});
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t i = 0; i < width; ++i) {
            const double expected = silu(double(in[size_t(r * 2 * width + i)])) * double(in[size_t((2 * r + 1) * width + i)]);
            EXPECT_NEAR(y[size_t(r * width + i)], expected, 5e-7 * (1 + std::fabs(expected)));
          }
        }
      }
    }
  });
}

TEST(gradient_matches_central_differences_of_f64_also_in_place) {
  each_isa([] {
    for (const auto& s : kShapes) {
      const int64_t rows = s[0], width = s[1];
      std::vector<float> in = random_floats(rows * 2 * width, 2.0f), dy = random_floats(rows * width);
      std::vector<float> out = poison(rows * 2 * width), in_place = in;
      swiglu_grad({}, {f32(in.data(), {rows, 2 * width}), f32(dy.data(), {rows, width}), f32(out.data(), {rows, 2 * width})});
      swiglu_grad(two_threads(), {f32(in_place.data(), {rows, 2 * width}), f32(dy.data(), {rows, width}), f32(in_place.data(), {rows, 2 * width})});
      EXPECT_TRUE(same_bits(out.data(), in_place.data(), int64_t(out.size())));
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t i = 0; i < width; ++i) {
          const size_t gate = size_t(r * 2 * width + i), up = gate + size_t(width);
          const double g = double(in[gate]), d = double(dy[size_t(r * width + i)]), h = 1e-5;
          const double slope = (silu(g + h) - silu(g - h)) / (2 * h);
          EXPECT_NEAR(out[gate], d * double(in[up]) * slope, 1e-5);
          EXPECT_NEAR(out[up], d * silu(g), 1e-5);
        }
      }
    }
  });
}

TEST(the_gradient_can_give_the_output_too_with_its_bits) {
  each_isa([] {
    for (const auto& s : kShapes) {
      for (const bool gelu : {false, true}) {
        const int64_t rows = s[0], width = s[1];
        std::vector<float> in = random_floats(rows * 2 * width, 3.0f), dy = random_floats(rows * width);
        std::vector<float> y = poison(rows * width), with_y = y, d = poison(rows * 2 * width), in_place = in;
        const auto both = [&](std::vector<float>& x) { return f32(x.data(), {rows, 2 * width}); };
        const auto one = [&](std::vector<float>& x) { return f32(x.data(), {rows, width}); };
        swiglu({}, {both(in), one(y), gelu});
        swiglu_grad({}, {both(in), one(dy), both(d), gelu});
        swiglu_grad(two_threads(), {both(in_place), one(dy), both(in_place), gelu, one(with_y)});
        EXPECT_TRUE(same_bits(y.data(), with_y.data(), int64_t(y.size())));
        EXPECT_TRUE(same_bits(d.data(), in_place.data(), int64_t(d.size())));
      }
    }
  });
}

TEST(extremes_saturate_and_nan_shows) {
  each_isa([] {
    std::vector<float> in = {-200.0f, 200.0f, std::nanf(""), -INFINITY, 1.0f, 1.0f, 1.0f, 0.0f}, y = poison(4);
    swiglu({}, {f32(in.data(), {1, 8}), f32(y.data(), {1, 4})});
    EXPECT_NEAR(y[0], 0.0, 1e-35);
    EXPECT_EQ(y[1], 200.0f);
    EXPECT_TRUE(std::isnan(y[2]) && std::isnan(y[3]));
  });
}

TEST(limited_pairs_match_f64_and_let_no_gradient_past_the_limit) {
  static constexpr double kLimit = 1.25;
  const auto value = [](double g, double u) {
    g = std::min(g, double(kLimit)), u = std::clamp(u, double(-kLimit), double(kLimit));
    return (u + 1) * g / (1 + std::exp(-1.702 * g));
  };
  each_isa([&] {
    for (const auto& s : kShapes) {
      const int64_t rows = s[0], width = s[1];
      std::vector<float> in = random_floats(rows * 2 * width, 3.0f), dy = random_floats(rows * width), y = poison(rows * width), again = y;
      std::vector<float> pairs = in;
      swiglu({}, {.gate_up = f32(in.data(), {rows, 2 * width}), .y = f32(y.data(), {rows, width}), .limit = float(kLimit)});
      swiglu_grad(two_threads(), {.gate_up = f32(pairs.data(), {rows, 2 * width}), .dy = f32(dy.data(), {rows, width}),
                                  .dgate_up = f32(pairs.data(), {rows, 2 * width}), .y = f32(again.data(), {rows, width}), .limit = float(kLimit)});
      EXPECT_TRUE(same_bits(y.data(), again.data(), rows * width));
      for (size_t i = 0; i < y.size(); ++i) {
        const double g = double(in[2 * i]), u = double(in[2 * i + 1]), d = double(dy[i]), h = 1e-6;
        EXPECT_NEAR(y[i], value(g, u), 1e-6 * (1 + std::fabs(double(y[i]))));
        if (std::fabs(g - kLimit) > 1e-4) EXPECT_NEAR(pairs[2 * i], d * (value(g + h, u) - value(g - h, u)) / (2 * h), 1e-5);
        if (std::fabs(std::fabs(u) - kLimit) > 1e-4) EXPECT_NEAR(pairs[2 * i + 1], d * (value(g, u + h) - value(g, u - h)) / (2 * h), 1e-5);
      }
    }
  });
}

TEST(wrong_arguments_are_named) {
  std::vector<float> x(12);
  EXPECT_THROWS(swiglu({}, {f32(x.data(), {2, 5}), f32(x.data(), {2, 3})}), Code::kShape);
  EXPECT_THROWS(swiglu_grad({}, {f32(x.data(), {2, 6}), f32(x.data(), {2, 3}), f32(x.data(), {2, 3})}), Code::kShape);
  EXPECT_THROWS(swiglu_grad({}, {f32(x.data(), {2, 6}), f32(x.data(), {2, 3}), f32(x.data(), {2, 6}), false, f32(x.data(), {2, 2})}), Code::kShape);
}

TEST(the_gate_of_gelu_matches_f64_in_both_directions) {
  each_isa([] {
    for (const auto& s : kShapes) {
      const int64_t rows = s[0], width = s[1];
      std::vector<float> in = random_floats(rows * 2 * width, 3.0f), dy = random_floats(rows * width);
      std::vector<float> y = poison(rows * width), d = poison(rows * 2 * width);
      swiglu({}, {f32(in.data(), {rows, 2 * width}), f32(y.data(), {rows, width}), true});
      swiglu_grad({}, {f32(in.data(), {rows, 2 * width}), f32(dy.data(), {rows, width}), f32(d.data(), {rows, 2 * width}), true});
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t i = 0; i < width; ++i) {
          const size_t gate = size_t(r * 2 * width + i), up = gate + size_t(width), at = size_t(r * width + i);
          const double g = double(in[gate]), h = 1e-5, slope = (gelu(g + h) - gelu(g - h)) / (2 * h);
          EXPECT_NEAR(y[at], gelu(g) * double(in[up]), 1e-6 * (1 + std::fabs(double(y[at]))));
          EXPECT_NEAR(d[gate], double(dy[at]) * double(in[up]) * slope, 1e-5 * (1 + std::fabs(double(d[gate]))));
          EXPECT_NEAR(d[up], double(dy[at]) * gelu(g), 1e-5 * (1 + std::fabs(double(d[up]))));
        }
      }
    }
  });
}

}  // namespace kernels_swiglu_test
