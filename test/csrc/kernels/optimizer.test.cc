// sum_of_squares, AdamW and Muon compared with f64 implementations in this file.
//
// Faults put into the code, each detected: no decay; eps inside the square root; bias correction of v
// missing; the clip factor only once in v; gradient norm without the last strip; b and c of the polynomial
// exchanged; Muon's sqrt(R/C) without the max; no Nesterov term; no clip factor in Muon's update.
#include "kernels/optimizer.h"

#include <algorithm>
#include <cstring>

#include "check.h"
#include "core/philox.h"
#include "kernels/cpu/dispatch.h"

namespace kernels_optimizer_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;
using cpu::Isa;

namespace {

using Doubles = std::vector<double>;

template <class F>
void on_every_set(F f) {
  const Isa before = cpu::isa();
  for (Isa set : {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512, Isa::kNeon}) {
    if (!cpu::isa_supported(set)) continue;
    cpu::force_isa(set);
    f();
  }
  cpu::force_isa(before);
}

/// The product of [n, k] and [k, m] by plain loops.
Doubles product(const Doubles& a, const Doubles& b, int64_t n, int64_t k, int64_t m) {
  Doubles out(size_t(n * m), 0.0);
  for (int64_t i = 0; i < n; ++i) {
    double* sums = &out[size_t(i * m)];
    for (int64_t l = 0; l < k; ++l) {
      const double factor = a[size_t(i * k + l)];
      const double* row = &b[size_t(l * m)];
      for (int64_t j = 0; j < m; ++j) sums[j] += factor * row[j];
    }
  }
  return out;
}

Doubles transposed(const Doubles& a, int64_t n, int64_t m) {
  Doubles out(a.size());
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j) out[size_t(j * n + i)] = a[size_t(i * m + j)];
  }
  return out;
}

/// Newton-Schulz as published, without transposing tall matrices.
Doubles newton_schulz(Doubles x, int64_t rows, int64_t columns) {
  double norm = 0;
  for (double v : x) norm += v * v;
  for (double& v : x) v /= std::sqrt(norm) + 1e-7;
  for (int step = 0; step < 5; ++step) {
    const Doubles gram = product(x, transposed(x, rows, columns), rows, columns, rows);
    const Doubles square = product(gram, gram, rows, rows, rows);
    Doubles poly(gram.size());
    for (size_t i = 0; i < gram.size(); ++i) poly[i] = -4.7750 * gram[i] + 2.0315 * square[i];
    const Doubles moved = product(poly, x, rows, rows, columns);
    for (size_t i = 0; i < x.size(); ++i) x[i] = 3.4445 * x[i] + moved[i];
  }
  return x;
}

}  // namespace

TEST(sum_of_squares_matches_f64_and_ignores_threads) {
  ThreadPool pool(2);
  for (int64_t n : {0, 1, 15, 17, 4095, 4096, 4097, 8192, 3 * 4096 * 512 + 5}) {
    const std::vector<float> x = random_floats(n, 3.0f);
    double expected = 0;
    for (float v : x) expected += double(v) * v;
    double first = -1;
    on_every_set([&] {
      const double alone = sum_of_squares({}, f32(x.data(), {n}));
      const double shared = sum_of_squares({.pool = &pool}, f32(x.data(), {n}));
      EXPECT_NEAR(alone, expected, 1e-12 * expected);  // f64 sums, so only rounding differs
      EXPECT_EQ(alone, shared);
      if (first < 0) first = alone;
      EXPECT_EQ(alone, first);
    });
  }
}

TEST(a_sum_of_squares_is_added_to_what_is_there_only_if_asked) {
  const std::vector<float> x{3.0f, 4.0f};
  double total = 100.0;
  sum_of_squares({}, {.x = f32(x.data(), {2}), .total = {&total, DType::kF64, {1}}});
  EXPECT_EQ(total, 25.0);
  sum_of_squares({}, {.x = f32(x.data(), {2}), .total = {&total, DType::kF64, {1}}, .accumulate = true});
  EXPECT_EQ(total, 50.0);
}

TEST(sum_of_squares_reports_what_is_not_finite) {
  std::vector<float> x = random_floats(5000);
  x[4999] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(sum_of_squares({}, f32(x.data(), {5000}))));
  x[4999] = -std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isinf(sum_of_squares({}, f32(x.data(), {5000}))));
}

TEST(adamw_matches_f64_over_three_steps) {
  const int64_t n = 16384 + 16384 + 37;
  const float lr = 1e-2f, beta1 = 0.9f, beta2 = 0.95f, eps = 1e-3f, decay = 0.1f, scale = 0.3f;
  const std::vector<float> start = random_floats(n);
  const std::vector<std::vector<float>> grads{random_floats(n), random_floats(n), random_floats(n)};
  Doubles p(start.begin(), start.end()), m(size_t(n), 0.0), v(size_t(n), 0.0);
  for (int64_t step = 1; step <= 3; ++step) {
    for (size_t i = 0; i < size_t(n); ++i) {
      const double g = double(scale) * grads[size_t(step - 1)][i];
      p[i] *= 1.0 - double(lr) * decay;
      m[i] = double(beta1) * m[i] + (1.0 - double(beta1)) * g;
      v[i] = double(beta2) * v[i] + (1.0 - double(beta2)) * g * g;
      const double mh = m[i] / (1.0 - std::pow(double(beta1), double(step)));
      const double vh = v[i] / (1.0 - std::pow(double(beta2), double(step)));
      p[i] -= double(lr) * mh / (std::sqrt(vh) + eps);
    }
  }
  ThreadPool pool(2);
  std::vector<float> first;
  on_every_set([&] {
    for (ThreadPool* threads : {static_cast<ThreadPool*>(nullptr), &pool}) {
      std::vector<float> param = start, fm(size_t(n), 0.0f), fv(size_t(n), 0.0f);
      for (int64_t step = 1; step <= 3; ++step) {
        adamw({.pool = threads}, {f32(param.data(), {n}), f32(fm.data(), {n}), f32(fv.data(), {n}),
                                  f32(grads[size_t(step - 1)].data(), {n}), lr, beta1, beta2, eps, decay, scale, step});
      }
      for (size_t i = 0; i < size_t(n); ++i) {
        // ten f32 roundings per step, of 6e-8 each
        EXPECT_NEAR(param[i], p[i], 1e-6 * (1.0 + std::fabs(p[i])));
        EXPECT_NEAR(fm[i], m[i], 1e-6);
        EXPECT_NEAR(fv[i], v[i], 1e-6);
      }
      if (first.empty()) first = param;
      // bits are equal for any instruction set and number of threads
      EXPECT_TRUE(same_bits(first.data(), param.data(), n));
    }
  });
}

TEST(adamw_first_step_is_the_sign_of_the_gradient) {
  std::vector<float> p{1.0f, 1.0f}, m(2, 0.0f), v(2, 0.0f), g{5.0f, -1e-4f};
  adamw({}, {f32(p.data(), {2}), f32(m.data(), {2}), f32(v.data(), {2}), f32(g.data(), {2}), 0.25f});
  EXPECT_NEAR(p[0], 0.75, 1e-6);
  EXPECT_NEAR(p[1], 1.25, 1e-4);  // eps 1e-8 is small compared with a gradient of 1e-4
}

TEST(muon_matches_f64_for_wide_tall_and_square_matrices) {
  ThreadPool pool(2);
  const int64_t shapes[][2] = {{1, 1}, {1, 40}, {40, 1}, {24, 70}, {70, 24}, {33, 33}, {96, 130}, {257, 260}};
  for (const auto& [rows, columns] : shapes) {
    const int64_t n = rows * columns;
    const float lr = 0.1f, momentum = 0.9f, decay = 0.05f, scale = 0.5f;
    const std::vector<float> start = random_floats(n), before = random_floats(n), grad = random_floats(n);
    Doubles buffer(size_t(n), 0.0), update(size_t(n), 0.0);
    for (size_t i = 0; i < size_t(n); ++i) {
      buffer[i] = double(momentum) * before[i] + double(scale) * grad[i];
      update[i] = double(scale) * grad[i] + double(momentum) * buffer[i];
    }
    update = newton_schulz(update, rows, columns);
    const double gain = std::sqrt(std::max(1.0, double(rows) / double(columns)));
    on_every_set([&] {
      std::vector<float> param = start, b = before;
      Arena arena(muon_scratch_bytes({}, rows, columns), "muon test");
      double change = -1;
      const float half = 0.5f;  // the clip factor is passed in two parts
      muon({.pool = &pool}, {f32(param.data(), {rows, columns}), f32(b.data(), {rows, columns}),
                             f32(grad.data(), {rows, columns}), lr, momentum, decay, 2 * scale, f32(&half, {1}),
                             {&change, DType::kF64, {1}}, &arena});
      EXPECT_EQ(arena.used(), 0);
      double moved = 0;
      for (size_t i = 0; i < size_t(n); ++i) {
        moved += (double(param[i]) - double(start[i])) * (double(param[i]) - double(start[i]));
        EXPECT_NEAR(b[i], buffer[i], 1e-6);
        // Five cubic steps amplify rounding errors of singular values far below 1: 1e-4 of an entry of about
        // 0.3.
        EXPECT_NEAR(param[i], start[i] * (1.0 - double(lr) * decay) - double(lr) * gain * update[i], 2e-5);
      }
      EXPECT_NEAR(change, moved, 1e-6 * moved);
    });
  }
}

TEST(muon_leaves_weights_where_they_are_when_the_gradient_is_zero) {
  std::vector<float> p{1.0f, -2.0f, 3.0f, 4.0f, 5.0f, 6.0f}, b(6, 0.0f), g(6, 0.0f);
  const std::vector<float> before = p;
  muon({}, {f32(p.data(), {3, 2}), f32(b.data(), {3, 2}), f32(g.data(), {3, 2}), 0.1f});
  EXPECT_TRUE(same_bits(p.data(), before.data(), 6));
}

TEST(muon_does_nothing_when_its_scale_is_nan) {
  std::vector<float> p(6, 1.0f), b(6, 2.0f), g(6, 1.0f);
  const float scale = std::nanf("");
  double change = -1;
  muon({}, {.param = f32(p.data(), {2, 3}), .momentum_buffer = f32(b.data(), {2, 3}), .grad = f32(g.data(), {2, 3}),
            .lr = 0.1f, .scale = f32(&scale, {1}), .squared_change = {&change, DType::kF64, {1}}});
  EXPECT_TRUE(p == std::vector<float>(6, 1.0f) && b == std::vector<float>(6, 2.0f));
  EXPECT_EQ(change, 0.0);
}

TEST(muon_passes_a_nan_on) {
  std::vector<float> p(6, 1.0f), b(6, 0.0f), g(6, 1.0f);
  g[3] = std::numeric_limits<float>::quiet_NaN();
  muon({}, {f32(p.data(), {2, 3}), f32(b.data(), {2, 3}), f32(g.data(), {2, 3}), 0.1f});
  for (float x : p) EXPECT_TRUE(std::isnan(x));
}

namespace {

/// x rounded to bf16 stochastically: up if the bits that are cut off, plus `draw`, carry over.
uint16_t rounded(float x, uint32_t draw) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  const uint32_t cut = bits & 0xffffu, up = (bits >> 16) + (cut + draw > 0xffffu ? 1 : 0);
  return uint16_t((up & 0x7fffu) == 0x7f80u ? bits >> 16 : up);
}

/// The random bits of an element; the low half is for m.
uint32_t draw_of(uint64_t seed, int64_t step, int64_t element) {
  const uint64_t key = seed ^ kMomentSeed, block = uint64_t(element) / 4;
  const auto words = philox4x32({uint32_t(block), uint32_t(step), uint32_t(uint64_t(step) >> 32), uint32_t(block >> 32)},
                                {uint32_t(key), uint32_t(key >> 32)});
  return words[size_t(element % 4)];
}

struct Moments {
  std::vector<uint16_t> m, v;
  explicit Moments(int64_t n) : m(size_t(n)), v(size_t(n)) {
    const std::vector<float> a = random_floats(n), b = random_floats(n);
    for (size_t i = 0; i < size_t(n); ++i) m[i] = f32_to_bf16(a[i]), v[i] = f32_to_bf16(std::fabs(b[i]));
  }
};
std::vector<float> widened(const std::vector<uint16_t>& x) {
  std::vector<float> out(x.size());
  for (size_t i = 0; i < x.size(); ++i) out[i] = bf16_to_f32(x[i]);
  return out;
}
TensorView bf16_view(std::vector<uint16_t>& x) { return {x.data(), DType::kBF16, {int64_t(x.size())}}; }

}  // namespace

TEST(moments_in_bf16_are_the_f32_ones_rounded_by_philox_of_seed_step_and_element) {
  on_every_set([] {
    for (const int64_t n : {1, 16, 63, 200, 40'000}) {
      for (const int64_t first : {int64_t(0), int64_t(5), int64_t(64), (int64_t(1) << 34) - 30}) {
        std::vector<float> p = random_floats(n), exact = p;
        const std::vector<float> start = random_floats(n);
        std::vector<float> g = start;
        Moments moments(n);
        std::vector<float> m = widened(moments.m), v = widened(moments.v);
        AdamWArgs a{.param = f32(p.data(), {n}), .m = bf16_view(moments.m), .v = bf16_view(moments.v), .grad = f32(g.data(), {n}),
                    .lr = 0.1f, .weight_decay = 0.1f, .grad_scale = 0.5f, .step = (int64_t(3) << 32) + 7, .seed = 99, .first = first};
        adamw({}, a);
        a.param = f32(exact.data(), {n}), a.m = f32(m.data(), {n}), a.v = f32(v.data(), {n});
        adamw({}, a);
        EXPECT_TRUE(p == exact);
        int64_t wrong = 0;
        for (int64_t i = 0; i < n; ++i) {
          const uint32_t draw = draw_of(99, a.step, first + i);
          wrong += moments.m[size_t(i)] != rounded(m[size_t(i)], draw & 0xffffu);
          wrong += moments.v[size_t(i)] != rounded(v[size_t(i)], draw >> 16);
        }
        EXPECT_EQ(wrong, 0);
      }
    }
  });
}

TEST(rounding_at_random_is_unbiased_and_that_of_m_tells_nothing_of_v) {
  constexpr int64_t n = 1 << 20;
  // With gradient 0 the moments become b1 m and b2 v, which lie between two bf16 numbers, nearer to the lower
  // or the upper one.
  std::vector<float> p(n, 0.0f), g(n, 0.0f);
  std::vector<uint16_t> m(n, f32_to_bf16(-1.5f)), v(n, f32_to_bf16(0.75f));
  adamw({}, {.param = f32(p.data(), {n}), .m = bf16_view(m), .v = bf16_view(v), .grad = f32(g.data(), {n}), .lr = 0.1f,
             .beta1 = 0.9f, .beta2 = 0.95f, .seed = 3});
  const double wanted_m = double(0.9f * -1.5f), wanted_v = double(0.95f * 0.75f);
  double mean_m = 0, mean_v = 0, product = 0, square_m = 0, square_v = 0;
  for (size_t i = 0; i < size_t(n); ++i) {
    const double em = double(bf16_to_f32(m[i])) - wanted_m, ev = double(bf16_to_f32(v[i])) - wanted_v;
    EXPECT_TRUE(std::fabs(em) < 0x1p-7 && std::fabs(ev) < 0x1p-8);  // the result is one of the two neighbours
    mean_m += em / n, mean_v += ev / n, product += em * ev / n, square_m += em * em / n, square_v += ev * ev / n;
  }
  EXPECT_TRUE(square_m > 0 && square_v > 0);
  // Five standard errors; rounding to nearest would be off by a hundred or more.
  EXPECT_NEAR(mean_m, 0.0, 5 * std::sqrt(square_m / n));
  EXPECT_NEAR(mean_v, 0.0, 5 * std::sqrt(square_v / n));
  EXPECT_TRUE(std::fabs(double(bf16_to_f32(f32_to_bf16(float(wanted_v)))) - wanted_v) > 100 * std::sqrt(square_v / n));
  EXPECT_NEAR(product / std::sqrt(square_m * square_v), 0.0, 5 / std::sqrt(double(n)));
}

TEST(a_moment_in_bf16_becomes_neither_infinite_nor_0_and_nan_stays) {
  constexpr int64_t n = 4096;
  const auto after = [&](float m_before, float v_before, float gradient) {
    std::vector<float> p(n, 0.0f), g(n, gradient);
    std::vector<uint16_t> m(n, f32_to_bf16(m_before)), v(n, f32_to_bf16(v_before));
    adamw({}, {.param = f32(p.data(), {n}), .m = bf16_view(m), .v = bf16_view(v), .grad = f32(g.data(), {n}), .lr = 0.1f, .beta2 = 0.999f});
    return std::pair{widened(m), widened(v)};
  };
  // b1 m + (1 - b1) g is just below the largest f32, and above the largest bf16
  for (float x : after(0x1.fep127f, 0.0f, 0x1.fffffep127f).first) EXPECT_TRUE(x == 0x1.fep127f);
  for (float x : after(0.0f, 0x1p-126f, 0.0f).second) EXPECT_TRUE(x > 0.0f);
  for (float x : after(0.0f, 1e-30f, 0.0f).second) EXPECT_TRUE(x > 0.9e-30f);
  for (float x : after(0.0f, 1.0f, std::nanf("")).second) EXPECT_TRUE(std::isnan(x));
  for (float x : after(0.0f, 1.0f, HUGE_VALF).second) EXPECT_EQ(x, HUGE_VALF);
}

TEST(ten_steps_with_moments_in_bf16_stay_near_f64) {
  constexpr int64_t n = 20'000;
  constexpr double kLr = 0.01;
  std::vector<float> p(n, 0.0f);
  std::vector<uint16_t> m(n, 0), v(n, 0);
  Doubles m64(n, 0.0), v64(n, 0.0), p64(n, 0.0);
  for (int64_t step = 1; step <= 10; ++step) {
    std::vector<float> g = random_floats(n);
    adamw({}, {.param = f32(p.data(), {n}), .m = bf16_view(m), .v = bf16_view(v), .grad = f32(g.data(), {n}), .lr = float(kLr),
               .beta2 = 0.999f, .step = step, .seed = 8});
    for (size_t i = 0; i < size_t(n); ++i) {
      m64[i] = double(0.9f) * m64[i] + (1 - double(0.9f)) * g[i];
      v64[i] = double(0.999f) * v64[i] + (1 - double(0.999f)) * double(g[i]) * g[i];
      p64[i] -= kLr * (m64[i] / (1 - std::pow(double(0.9f), step))) / (std::sqrt(v64[i] / (1 - std::pow(double(0.999f), step))) + 1e-8);
    }
  }
  double square = 0, mean = 0, moved = 0;
  for (size_t i = 0; i < size_t(n); ++i) {
    const double error = double(p[i]) - p64[i];
    square += error * error / n, mean += error / n, moved += p64[i] * p64[i] / n;
    EXPECT_TRUE(std::fabs(error) < 0.05 * 10 * kLr);
  }
  // Each rounding has a random error of up to 2^-7: after ten steps half a percent remains.
  EXPECT_TRUE(std::sqrt(square / moved) < 0.01);
  EXPECT_NEAR(mean, 0.0, 5 * std::sqrt(square / n));
}

TEST(wrong_shapes_are_refused) {
  std::vector<float> a(12, 0.0f);
  const TensorView twelve = f32(a.data(), {12}), six = f32(a.data(), {6}), matrix = f32(a.data(), {3, 4});
  EXPECT_THROWS(sum_of_squares({}, matrix), Code::kShape);
  EXPECT_THROWS(adamw({}, {twelve, twelve, six, twelve, 0.1f}), Code::kShape);
  EXPECT_THROWS(adamw({}, {twelve, twelve, twelve, matrix, 0.1f}), Code::kShape);
  TensorView half = twelve;
  half.dtype = DType::kBF16;
  EXPECT_THROWS(adamw({}, {twelve, half, twelve, twelve, 0.1f}), Code::kShape);
  EXPECT_THROWS(adamw({}, {half, twelve, twelve, twelve, 0.1f}), Code::kShape);
  AdamWArgs zero_step{twelve, twelve, twelve, twelve, 0.1f};
  zero_step.step = 0;
  EXPECT_THROWS(adamw({}, zero_step), Code::kInternal);
  EXPECT_THROWS(muon({}, {matrix, f32(a.data(), {4, 3}), matrix, 0.1f}), Code::kShape);
  Arena small(64, "too small");
  EXPECT_THROWS(muon({}, {matrix, matrix, matrix, 0.1f, 0.9f, 0.0f, 1.0f, {}, {}, &small}), Code::kOutOfMemory);
}

}  // namespace kernels_optimizer_test
