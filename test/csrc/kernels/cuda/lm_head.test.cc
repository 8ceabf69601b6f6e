// Statistics and gradient of the output head on the device, by each of its kernels, compared with f64 and
// with the CPU op on the same rounded numbers.
//
// Faults tried, each detected by the test named: the third part of a weight left out, the first part not
// subtracted (third_part); sums not promoted, promoted every 256 k, or parts in another order (one_chain);
// the last 512 k left out, halves of a fragment exchanged, a wait for one group too few, a missing barrier
// after it, before the finished tile, or before the epilogue (match_f64); h not zero beyond k (nan), or
// transposed weights (gradients); tiles merged without their scale, weighted sums without d (match_f64); ids
// beyond the vocabulary in the maximum, or dz not cleared at the end of a row (far_below_zero); temperature
// or the target's column left out (match_f64); onehot, entropy, temperature or a sign in dz, dw overwritten,
// logits of one part only (gradients); the first chunk's targets or lse used for all (chunks).
#include "each_way.h"
#include "head.h"

#include "kernels/matmul.h"

namespace kernels_cuda_lm_head_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

TEST_SETUP { say_hopper(); }

#ifdef HONE_HAVE_CUDA

namespace {

double rms(const std::vector<double>& x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return std::sqrt(sum / double(x.size()));
}

/// The rms error of log-probs that `computed` gives, compared with f64 on the weights of `exact`.
double logprob_error(const Head& exact, const Head& computed) {
  std::vector<double> errors;
  for (int64_t r = 0; r < exact.rows; ++r) errors.push_back(double(computed.logprobs[size_t(r)]) - exact.truth(r).logprob);
  return rms(errors);
}

Gradient coefficients(const Head& m) { return {random_floats(m.rows), random_floats(m.rows), {}, {}}; }

/// dh and dW of the CPU op, and the allowed error of each element.
struct Expected {
  std::vector<float> dh, dw;
  std::vector<double> dh_bound, dw_bound;
};

std::vector<float> panels_of(const std::vector<float>& w, int64_t n, int64_t k, bool transpose, PackedMatrix* out) {
  std::vector<float> panels(size_t(packed_bytes({}, transpose ? k : n, transpose ? n : k, DType::kF32)) / 4);
  *out = {transpose ? k : n, transpose ? n : k, DType::kF32, panels.data()};
  pack_matrix({}, {f32(w.data(), {n, k}), transpose, *out});
  return panels;
}

/// dz, the weights it is multiplied with for dh, and dh itself are rounded to bf16 (2^-8 each); logits of two
/// parts and f32 exponentials have an error of 2^-13. Bounds are sums over the products' magnitudes.
Expected cpu_gradient(const Head& m, const Gradient& g, bool with_entropy) {
  const int64_t R = m.rows, C = m.width, V = m.vocabulary;
  PackedMatrix w, w_t;
  const std::vector<float> panels = panels_of(m.w, V, C, false, &w), panels_t = panels_of(m.w, V, C, true, &w_t);
  Expected out{poison(R * C), std::vector<float>(size_t(V * C), m.before), std::vector<double>(size_t(R * C)),
               std::vector<double>(size_t(V * C), 1e-6)};
  lm_head_grad({}, {f32(m.h.data(), {R, C}), w, w_t, i32(m.targets.data(), {R}), f32(m.lse.data(), {R}),
                    f32(m.entropies.data(), {R}), f32(g.a.data(), {R}),
                    with_entropy ? f32(g.b.data(), {R}) : TensorView{}, f32(out.dh.data(), {R, C}),
                    f32(out.dw.data(), {V, C}), m.temperature, nullptr});
  for (int64_t r = 0; r < R; ++r) {
    const double a = double(g.a[size_t(r)]), b = with_entropy ? double(g.b[size_t(r)]) : 0.0;
    for (int64_t v = 0; v < V; ++v) {
      const double log_p = m.logit(r, v) / double(m.temperature) - double(m.lse[size_t(r)]);
      const double dz = (a * ((v == m.targets[size_t(r)] ? 1.0 : 0.0) - std::exp(log_p)) -
                         b * std::exp(log_p) * (log_p + double(m.entropies[size_t(r)]))) / double(m.temperature);
      const double slack = std::fabs(dz) * 0x1p-8 + (std::fabs(a) + std::fabs(b)) * std::exp(log_p) * 0x1p-13;
      for (int64_t c = 0; c < C; ++c) {
        const double weight = std::fabs(double(m.w[size_t(v * C + c)])), x = std::fabs(double(m.h[size_t(r * C + c)]));
        out.dh_bound[size_t(r * C + c)] += weight * (slack + std::fabs(dz) * 0x1p-8) * 1.01;
        out.dw_bound[size_t(v * C + c)] += x * slack * 1.01;
      }
    }
  }
  for (size_t i = 0; i < out.dh.size(); ++i) out.dh_bound[i] += std::fabs(double(out.dh[i])) * 0x1p-8 + 1e-7;
  return out;
}

double worst_ratio(const std::vector<float>& got, const std::vector<float>& expected, const std::vector<double>& bound) {
  double worst = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double ratio = std::fabs(double(got[i]) - double(expected[i])) / bound[i];
    worst = ratio <= worst ? worst : ratio;  // NaN counts as the worst
  }
  return worst;
}

}  // namespace

// Products are exact; each of the C/16 sums of a part rounds once, so that a logit of size 8 has an error of
// a few 2^-22, and log p as much again from f32's own rounding. A tensor core truncates, which gives errors
// of one sign: emulated with terms truncated one bit below the largest of eight, log p was off by at most
// 1.2e-5 here, and by 2.2e-5 rms in the next test.
TEST(statistics_match_f64) {
  NEEDS_DEVICE;
  each_way([] {
    const double bound = on_shim() ? 6e-6 : 3e-5;
    const int64_t shapes[][3] = {{1, 8, 1}, {3, 24, 2}, {17, 40, 226}, {130, 16, 150}, {2, 8, 1000}, {4, 552, 129}};
    for (const auto& s : shapes) {
      for (const bool tied : {false, true}) {
        Head m(s[0], s[1], s[2], tied);
        m.temperature = tied ? 0.7f : 1.3f;
        m.forward();
        for (int64_t r = 0; r < m.rows; r += m.rows > 100 ? 43 : 1) {
          const RowTruth truth = m.truth(r);
          EXPECT_NEAR(m.logprobs[size_t(r)], truth.logprob, bound);
          EXPECT_NEAR(m.entropies[size_t(r)], truth.entropy, bound);
          EXPECT_NEAR(m.lse[size_t(r)], truth.lse, bound);
        }
      }
    }
  });
}

TEST(three_parts_leave_little_of_the_error_of_one) {
  NEEDS_DEVICE;
  Head exact(24, 512, 128, false, 4.0f);
  exact.forward();
  Head rounded = exact;
  rounded.tied = true;
  rounded.forward();
  const double three = logprob_error(exact, exact), one = logprob_error(exact, rounded);
  std::printf("  rms error of log p: %.2g in three parts, %.2g with weights rounded to bf16\n", three, one);
  EXPECT_TRUE(three < (on_shim() ? 2e-6 : 6e-5));
  EXPECT_TRUE(one > (on_shim() ? 500 : 100) * three);
}

// Weights are 1 + 2^-9 + j 2^-19, and their negatives without the last term: 1 is the first part, 2^-9 the
// second, j 2^-19 the third, and all sums are exact on any tensor core. Without the third part every logit
// would be 0.
TEST(the_third_part_decides_where_the_others_cancel) {
  NEEDS_DEVICE;
  each_way([] {
    Head m(2, 16, 4);
    m.h.assign(32, 65536.0f);
    for (int64_t v = 0; v < 4; ++v) {
      for (int64_t k = 0; k < 16; ++k) {
        m.w[size_t(v * 16 + k)] = k % 2 ? -(1.0f + 0x1p-9f) : 1.0f + 0x1p-9f + float(v) * 0x1p-19f;
      }
    }
    m.targets = {3, 1};
    m.forward();
    const double lse = std::log(1 + std::exp(1.0) + std::exp(2.0) + std::exp(3.0));
    EXPECT_NEAR(m.lse[0], lse, 1e-6);
    EXPECT_NEAR(m.logprobs[0], 3 - lse, 1e-6);
    EXPECT_NEAR(m.logprobs[1], 1 - lse, 1e-6);
  });
}

// With one id in the vocabulary, lse is the logit: the test computes its sum step by step, low parts first,
// 16 k at a time, promoted every 512 k. The shim's mma rounds where a tensor core truncates, so the bits are
// those of the shim.
#ifdef HONE_CUDA_SHIM
TEST(a_logit_is_one_chain_promoted_every_512) {
  NEEDS_DEVICE;
  each_way([] {
    const int64_t C = 1304;
    Head m(5, C, 1);
    m.forward();
    for (int64_t r = 0; r < m.rows; ++r) {
      float promoted = 0, sum = 0;
      for (int64_t first = 0; first < C; first += 16) {
        for (int part = 2; part >= 0; --part) {
          double block = double(sum);
          for (int64_t k = first; k < std::min(first + 16, C); ++k) {
            float rest = m.w[size_t(k)], piece = 0;
            for (int p = 0; p <= part; ++p) {
              piece = bf16_to_f32(f32_to_bf16(rest));
              rest -= piece;
            }
            block += double(piece) * double(m.h[size_t(r * C + k)]);
          }
          sum = float(block);
        }
        if ((first + 16) % 512 == 0 || first + 16 >= C) {
          promoted += sum;
          sum = 0;
        }
      }
      EXPECT_TRUE(same_bits(&promoted, &m.lse[size_t(r)], 1));
    }
  });
}
#endif

TEST(a_row_alone_has_the_bits_it_has_in_a_batch) {
  NEEDS_DEVICE;
  each_way([] {
    for (const bool tied : {false, true}) {
      Head m(64, 24, 150, tied);
      m.forward();
      for (const int64_t r : {0, 17, 63}) {
        Head one = m.part(r, 1);
        one.forward();
        EXPECT_TRUE(same_bits(&one.logprobs[0], &m.logprobs[size_t(r)], 1));
        EXPECT_TRUE(same_bits(&one.entropies[0], &m.entropies[size_t(r)], 1));
        EXPECT_TRUE(same_bits(&one.lse[0], &m.lse[size_t(r)], 1));
      }
    }
  });
}

TEST(gradients_match_the_cpu_op) {
  NEEDS_DEVICE;
  each_way([] {
    const int64_t shapes[][3] = {{1, 8, 1}, {5, 16, 19}, {130, 136, 61}};
    for (const auto& s : shapes) {
      for (const bool tied : {false, true}) {
        for (const bool with_entropy : {false, true}) {
          if (s[0] > 100 && tied != with_entropy) continue;  // saves time
          Head m(s[0], s[1], s[2], tied);
          m.temperature = 0.8f;
          m.forward();
          Gradient g = coefficients(m);
          m.backward(g, with_entropy);
          const Expected expected = cpu_gradient(m, g, with_entropy);
          EXPECT_TRUE(worst_ratio(g.dh, expected.dh, expected.dh_bound) <= 1.0);
          EXPECT_TRUE(worst_ratio(g.dw, expected.dw, expected.dw_bound) <= 1.0);
        }
      }
    }
  });
}

namespace {

/// dh and dw in f64, for a head with activations `h` [rows, width] and only the slopes g.a.
struct F64Gradient {
  std::vector<double> dh, dw;

  F64Gradient(const Head& m, const std::vector<float>& h, const Gradient& g)
      : dh(size_t(m.rows * m.width), 0.0), dw(size_t(m.vocabulary * m.width), 0.0) {
    std::vector<double> z(size_t(m.vocabulary));
    for (int64_t r = 0; r < m.rows; ++r) {
      double total = 0.0;
      for (int64_t v = 0; v < m.vocabulary; ++v) {
        double sum = 0.0;
        for (int64_t k = 0; k < m.width; ++k) sum += double(h[size_t(r * m.width + k)]) * double(m.w[size_t(v * m.width + k)]);
        total += z[size_t(v)] = std::exp(sum);
      }
      for (int64_t v = 0; v < m.vocabulary; ++v) {
        const double slope = double(g.a[size_t(r)]) * ((v == m.targets[size_t(r)]) - z[size_t(v)] / total);
        for (int64_t k = 0; k < m.width; ++k) {
          dh[size_t(r * m.width + k)] += slope * double(m.w[size_t(v * m.width + k)]);
          dw[size_t(v * m.width + k)] += slope * double(h[size_t(r * m.width + k)]);
        }
      }
    }
  }
};

/// Relative Euclidean distance |got - before - exact| / |exact|.
template <class T>
double distance(const std::vector<T>& got, const std::vector<double>& exact, double before = 0.0) {
  double apart = 0.0, size = 0.0;
  for (size_t i = 0; i < exact.size(); ++i) {
    apart += (double(got[i]) - before - exact[i]) * (double(got[i]) - before - exact[i]);
    size += exact[i] * exact[i];
  }
  return std::sqrt(apart / size);
}

}  // namespace

// The bound of docs/explanation/numerics.md: rounding changes dw by at most 3e-3, about as much as h in bf16
// instead of f32 does, and dh by at most 4e-3, about twice as much as storing it in bf16 does. On a GPU the
// vocabulary is as large as a model's, which would take minutes in the host shim.
TEST(the_whole_gradient_is_as_near_to_f64_as_activations_in_bf16_allow) {
  NEEDS_DEVICE;
  for (const auto& [scale, vocabulary] : {std::pair{1.0f, 1000}, std::pair{4.0f, on_shim() ? 1000 : 131072},
                                          std::pair{8.0f, 1000}}) {
    Head m(48, 64, vocabulary, false, scale);
    const std::vector<float> unrounded = random_floats(m.rows * m.width);
    m.h = rounded_to_bf16(unrounded);
    m.forward();
    Gradient g = coefficients(m);
    m.backward(g, false);
    const F64Gradient exact(m, m.h, g), other(m, unrounded, g);
    const double dw = distance(g.dw, exact.dw, double(m.before)), dh = distance(g.dh, exact.dh);
    const double of_h = distance(other.dw, exact.dw);
    const double stored = distance(rounded_to_bf16(std::vector<float>(exact.dh.begin(), exact.dh.end())), exact.dh);
    std::printf("  %d ids, logits spread by %g: dw off by %.2g (h in bf16: %.2g), dh by %.2g (dh in bf16: %.2g)\n", vocabulary,
                double(scale), dw, of_h, dh, stored);
    EXPECT_TRUE(dw < 3e-3 && dw < 1.5 * of_h);
    EXPECT_TRUE(dh < 4e-3 && dh < 2.5 * stored);
  }
}

// There are more rows than in a chunk, so that the second chunk is added to the first, and a chunk has more
// rows than a pass.
TEST(chunks_of_rows_add_up) {
  NEEDS_DEVICE;
  Head m(2060, 8, 9);
  m.forward();
  for (const int64_t r : {0, 2047, 2048, 2059}) EXPECT_NEAR(m.logprobs[size_t(r)], m.truth(r).logprob, on_shim() ? 6e-6 : 3e-5);
  Gradient g = coefficients(m);
  const Expected expected = cpu_gradient(m, g, false);
  for (const int64_t chunk : {2048, 8192}) {
    m.chunk = chunk;
    m.backward(g, false);
    EXPECT_TRUE(worst_ratio(g.dh, expected.dh, expected.dh_bound) <= 1.0);
    EXPECT_TRUE(worst_ratio(g.dw, expected.dw, expected.dw_bound) <= 1.0);
  }
}

TEST(dh_of_a_row_alone_has_the_bits_it_has_in_a_batch) {
  NEEDS_DEVICE;
  each_way([] {
    Head m(64, 40, 150);
    m.forward();
    Gradient all = coefficients(m);
    m.backward(all, true);
    for (const int64_t r : {3, 63}) {
      Head one = m.part(r, 1);
      one.forward();
      Gradient alone{{all.a[size_t(r)]}, {all.b[size_t(r)]}, {}, {}};
      one.backward(alone, true);
      EXPECT_TRUE(same_bits(alone.dh.data(), all.dh.data() + r * 40, 40));
    }
  });
}

TEST(the_same_call_twice_gives_the_same_bits) {
  NEEDS_DEVICE;
  Head m(20, 24, 140), again = m;
  m.forward();
  again.forward();
  EXPECT_TRUE(same_bits(m.logprobs.data(), again.logprobs.data(), 20));
  Gradient g = coefficients(m), twice = g;
  m.backward(g, true);
  again.backward(twice, true);
  EXPECT_TRUE(same_bits(g.dh.data(), twice.dh.data(), int64_t(g.dh.size())));
  EXPECT_TRUE(same_bits(g.dw.data(), twice.dw.data(), int64_t(g.dw.size())));
}

TEST(nan_shows_in_its_row_only) {
  NEEDS_DEVICE;
  each_way([] {
    for (const float bad : {std::nanf(""), INFINITY}) {
      Head m(4, 8, 33);
      m.h[8 * 2 + 1] = bad;
      m.forward();
      Gradient g = coefficients(m);
      m.backward(g, true);
      for (int64_t r = 0; r < 4; ++r) {
        EXPECT_EQ(std::isnan(m.logprobs[size_t(r)]) && std::isnan(m.entropies[size_t(r)]), r == 2);
        EXPECT_EQ(std::isnan(g.dh[size_t(8 * r)]), r == 2);
      }
    }
  });
}

// Columns and weights beyond the matrix are zeros; compared with logits of -150 they would be the largest.
TEST(rows_far_below_zero_do_not_see_what_lies_beyond_the_vocabulary) {
  NEEDS_DEVICE;
  each_way([] {
    Head m(3, 8, 131);
    for (int64_t v = 0; v < m.vocabulary; ++v) m.w[size_t(v * 8)] = -150.0f - 0.25f * float(v % 9);
    for (int64_t r = 0; r < m.rows; ++r) m.h[size_t(r * 8)] = 1.0f;
    m.forward();
    for (int64_t r = 0; r < m.rows; ++r) {
      EXPECT_NEAR(m.logprobs[size_t(r)], m.truth(r).logprob, 6e-5);  // 150 has an ulp of 1.5e-5
      EXPECT_NEAR(m.entropies[size_t(r)], m.truth(r).entropy, 6e-5);
    }
    Gradient g = coefficients(m);
    m.backward(g, true);
    for (const float x : g.dh) EXPECT_TRUE(std::isfinite(x));
    for (const float x : g.dw) EXPECT_TRUE(std::isfinite(x));
  });
}

TEST(no_rows_change_nothing) {
  NEEDS_DEVICE;
  Head m(0, 8, 5);
  m.forward();
  Gradient g;
  m.backward(g, false);
  for (const float x : g.dw) EXPECT_EQ(x, m.before);
}

TEST(wrong_arguments_are_named) {
  NEEDS_DEVICE;
  Head narrow(2, 12, 5);
  EXPECT_THROWS(narrow.forward(), Code::kShape);
  Head cold(2, 8, 5);
  cold.temperature = 0.0f;
  EXPECT_THROWS(cold.forward(), Code::kConfig);
}

#endif

}  // namespace kernels_cuda_lm_head_test
