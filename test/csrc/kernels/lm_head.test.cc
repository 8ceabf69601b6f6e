// The output head compared with f64: statistics, gradient by central differences, the noise of a Philox key,
// the sampled distribution and its truncations; and that statistics and sampling give a row the same bits.
//
// Faults tried, each detected by the test named: temperature left out of dz, entropy term without + H, onehot
// added before the softmax factor (gradient); tail lanes counted in the sum (matches_f64); words of a block
// in another order, u instead of its distance from 1 (noise); top-p without the crossing token, top-p of the
// mass before top-k, min-p of 1 instead of max p, tie to the higher id (truncation); log-prob of the
// truncated distribution (same_bits, draws_follow, truncation); greedy at the given temperature 0 (greedy).
#include "kernels/lm_head.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "each_isa.h"
#include "kernels/cpu/lm_head_block.h"
namespace hone::kernels::cpu {
void noise_of(const SampleKey& key, int64_t n, float* out) {
  HONE_PICK(gumbel_row)({key.position, key.attempt, key.problem, uint32_t(key.run_seed), uint32_t(key.run_seed >> 32)},
                        n, out);
}
}  // namespace hone::kernels::cpu

namespace kernels_lm_head_test {
using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

struct Head {
  int64_t rows, width, vocabulary;
  float temperature = 1.0f;
  std::vector<float> h, w, logprobs, entropies, lse, a, b, dh, dw;
  std::vector<int32_t> targets;
  std::vector<float> panels, panels_t;
  PackedMatrix packed, packed_t;

  Head(int64_t r, int64_t c, int64_t v)
      : rows(r), width(c), vocabulary(v), h(random_floats(r * c)), w(random_floats(v * c, 2.0f / std::sqrt(float(c)))),
        a(random_floats(r)), b(random_floats(r)) {
    for (int64_t i = 0; i < r; ++i) targets.push_back(int32_t(random_int(0, v - 1)));
    pack();
  }
  void pack() {
    panels.resize(size_t(packed_bytes({}, vocabulary, width, DType::kF32)) / 4);
    panels_t.resize(size_t(packed_bytes({}, width, vocabulary, DType::kF32)) / 4);
    packed = {vocabulary, width, DType::kF32, panels.data()};
    packed_t = {width, vocabulary, DType::kF32, panels_t.data()};
    pack_matrix({}, {f32(w.data(), {vocabulary, width}), false, packed});
    pack_matrix({}, {f32(w.data(), {vocabulary, width}), true, packed_t});
  }
  TensorView floats(std::vector<float>& x) { return f32(x.data(), {rows}); }
  void forward(const Stream& stream = {}, Arena* scratch = nullptr) {
    logprobs = entropies = lse = poison(rows);
    lm_head(stream, {f32(h.data(), {rows, width}), packed, i32(targets.data(), {rows}), floats(logprobs),
                     floats(entropies), floats(lse), temperature, scratch});
  }
  void backward(bool with_entropy, const Stream& stream = {}) {
    dh = poison(rows * width);
    dw.assign(size_t(vocabulary * width), 0.25f);
    lm_head_grad(stream, {f32(h.data(), {rows, width}), packed, packed_t, i32(targets.data(), {rows}), floats(lse),
                          floats(entropies), floats(a), with_entropy ? floats(b) : TensorView{},
                          f32(dh.data(), {rows, width}), f32(dw.data(), {vocabulary, width}), temperature, nullptr});
  }
};

struct Row { double logprob, entropy, lse; };
std::vector<double> logits_of(const Head& m, int64_t r) {
  std::vector<double> z(size_t(m.vocabulary), 0);
  for (int64_t v = 0; v < m.vocabulary; ++v) {
    for (int64_t i = 0; i < m.width; ++i) z[size_t(v)] += double(m.h[size_t(r * m.width + i)]) * double(m.w[size_t(v * m.width + i)]);
  }
  return z;
}
Row reference(const Head& m, int64_t r) {
  std::vector<double> y = logits_of(m, r);
  for (double& x : y) x /= double(m.temperature);
  const double top = *std::max_element(y.begin(), y.end());
  double total = 0, entropy = 0;
  for (double x : y) total += std::exp(x - top);
  const double lse = top + std::log(total);
  for (double x : y) entropy -= std::exp(x - lse) * (x - lse);
  return {y[size_t(m.targets[size_t(r)])] - lse, entropy, lse};
}
double reference_loss(const Head& m, bool with_entropy) {
  double loss = 0;
  for (int64_t r = 0; r < m.rows; ++r) {
    const Row row = reference(m, r);
    loss += double(m.a[size_t(r)]) * row.logprob + (with_entropy ? double(m.b[size_t(r)]) * row.entropy : 0.0);
  }
  return loss;
}

/// A head with the given logits: W is the identity, so that row r of h equals row r of the logits.
Head with_logits(const std::vector<float>& logits, int64_t rows) {
  const int64_t v = int64_t(logits.size());
  Head m(rows, v, v);
  for (int64_t r = 0; r < rows; ++r) std::copy(logits.begin(), logits.end(), m.h.begin() + r * v);
  m.w.assign(size_t(v * v), 0.0f);
  for (int64_t i = 0; i < v; ++i) m.w[size_t(i * v + i)] = 1.0f;
  m.pack();
  return m;
}

struct Samples {
  std::vector<int32_t> tokens;
  std::vector<float> logprobs, entropies;
};
SampleKey key_of(int64_t r) { return {0x1234567890abcdefull, uint32_t(r / 7), uint32_t(r % 7), uint32_t(3 * r + 1)}; }
Samples sample(Head& m, const SamplingParams& params, const Stream& stream = {}, int64_t first = 0) {
  Samples out{std::vector<int32_t>(size_t(m.rows), -1), poison(m.rows), poison(m.rows)};
  const std::vector<SamplingParams> all(size_t(m.rows), params);
  std::vector<SampleKey> keys;
  for (int64_t r = 0; r < m.rows; ++r) keys.push_back(key_of(first + r));
  lm_head_sample(stream, {f32(m.h.data(), {m.rows, m.width}), m.packed, all.data(), keys.data(),
                          i32(out.tokens.data(), {m.rows}), f32(out.logprobs.data(), {m.rows}),
                          f32(out.entropies.data(), {m.rows}), nullptr});
  return out;
}

/// The distribution after truncation, in f64, by sorting.
std::vector<double> reference_distribution(const std::vector<float>& logits, const SamplingParams& params) {
  const size_t n = logits.size();
  std::vector<double> p(n);
  const float top = *std::max_element(logits.begin(), logits.end());
  double total = 0;
  for (size_t v = 0; v < n; ++v) total += p[v] = std::exp((double(logits[v]) - double(top)) / double(params.temperature));
  for (double& x : p) x /= total;
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) { return logits[x] > logits[y]; });
  const auto keep_first = [&](size_t count) {
    for (size_t i = count; i < n; ++i) p[order[i]] = 0;
    const double mass = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& x : p) x /= mass;
  };
  if (params.top_k > 0) keep_first(std::min(n, size_t(params.top_k)));
  if (params.top_p < 1.0f) {
    double mass = 0;
    size_t count = 0;
    while (count < n && mass < double(params.top_p)) mass += p[order[count++]];
    keep_first(count);
  }
  size_t count = 0;
  while (count < n && p[order[count]] > 0 && p[order[count]] >= double(params.min_p) * p[order[0]]) ++count;
  keep_first(count);
  return p;
}

std::vector<double> whole_distribution(const std::vector<float>& logits, const SamplingParams& params) {
  return reference_distribution(logits, {params.temperature, 0, 1.0f, 0.0f});
}

/// Expects `token` to be the argmax of y (tempered logits, -inf if excluded) plus row r's noise, unless there
/// is a near tie.
void expect_draw(int64_t r, std::vector<double> y, int32_t token) {
  for (size_t v = 0; v < y.size(); ++v) y[v] -= std::log(-std::log(open_closed_u32(key_of(r).words(uint32_t(v / 4))[v % 4])));
  EXPECT_TRUE(y[size_t(token)] >= *std::max_element(y.begin(), y.end()) - 1e-4);
}

const std::vector<float> kLogits = {0.3f, -1.0f, 2.0f, 0.5f, 0.5f, -3.0f, 1.7f, 0.5f, -0.2f, 1.1f, -8.0f, 0.9f, 0.0f};

}  // namespace

// Compares f32 logits (sums of C terms) with f64 ones.
TEST(statistics_match_f64) {
  each_isa([] {
    const int64_t shapes[][3] = {{1, 1, 1}, {3, 5, 2}, {7, 96, 226}, {150, 24, 3001}, {2, 8, 9000}, {65, 16, 16}};
    for (const auto& s : shapes) {
      Head m(s[0], s[1], s[2]);
      for (float temperature : {1.0f, 0.7f, 2.5f}) {
        m.temperature = temperature;
        m.forward();
        for (int64_t r = 0; r < m.rows; r += m.rows > 100 ? 37 : 1) {
          const Row row = reference(m, r);
          EXPECT_NEAR(m.logprobs[size_t(r)], row.logprob, 2e-5);
          EXPECT_NEAR(m.entropies[size_t(r)], row.entropy, 2e-5);
          EXPECT_NEAR(m.lse[size_t(r)], row.lse, 2e-5);
        }
      }
    }
  });
}

TEST(gradient_matches_central_differences_of_f64) {
  each_isa([] {
    const int64_t shapes[][3] = {{1, 1, 2}, {5, 7, 19}, {9, 20, 50}};
    for (const auto& s : shapes) {
      for (bool with_entropy : {false, true}) {
        Head m(s[0], s[1], s[2]);
        m.temperature = 0.8f;
        m.forward();
        m.backward(with_entropy);
        const auto check = [&](std::vector<float> Head::*input, const std::vector<float>& gradient, double before) {
          for (size_t i = 0; i < (m.*input).size(); i += 1 + (m.*input).size() / 60) {
            Head up = m, down = m;
            (up.*input)[i] += 0x1p-10f;
            (down.*input)[i] -= 0x1p-10f;
            const double step = double((up.*input)[i]) - double((down.*input)[i]);
            EXPECT_NEAR(double(gradient[i]) - before,
                        (reference_loss(up, with_entropy) - reference_loss(down, with_entropy)) / step, 1e-4);
          }
        };
        check(&Head::h, m.dh, 0.0);
        check(&Head::w, m.dw, 0.25);
      }
    }
  });
}

const SamplingParams kCut{0.7f, 500, 0.9f, 0.02f};  // at vocabulary 5, top-k has no effect

TEST(a_row_has_the_same_bits_alone_batched_threaded_and_sampled_whatever_is_truncated) {
  each_isa([] {
    for (int64_t vocabulary : {5, 226, 3001}) {
      Head m(150, 48, vocabulary);
      m.temperature = 0.7f;
      m.forward();
      Samples drawn = sample(m, kCut), threaded = sample(m, kCut, two_threads());
      EXPECT_TRUE(drawn.tokens == threaded.tokens && same_bits(drawn.logprobs.data(), threaded.logprobs.data(), 150));
      EXPECT_TRUE(drawn.tokens != sample(m, {0.7f, 0, 1.0f, 0.0f}).tokens);
      Head other = m;
      other.targets = drawn.tokens;
      Arena scratch(lm_head_scratch_bytes({}, 150, 48, vocabulary), "test");
      other.forward(two_threads(), &scratch);
      EXPECT_EQ(scratch.used(), 0);
      EXPECT_TRUE(same_bits(other.logprobs.data(), drawn.logprobs.data(), 150));
      EXPECT_TRUE(same_bits(other.entropies.data(), drawn.entropies.data(), 150));
      EXPECT_TRUE(same_bits(other.lse.data(), m.lse.data(), 150));
      for (int64_t r : {0, 64, 149}) {
        Head one = m;
        one.rows = 1;
        one.h.assign(m.h.begin() + r * 48, m.h.begin() + (r + 1) * 48);
        const Samples alone = sample(one, kCut, {}, r);
        EXPECT_EQ(alone.tokens[0], drawn.tokens[size_t(r)]);
        EXPECT_TRUE(same_bits(&alone.logprobs[0], &drawn.logprobs[size_t(r)], 1));
        EXPECT_TRUE(same_bits(&alone.entropies[0], &drawn.entropies[size_t(r)], 1));
      }
    }
  });
}

TEST(gradient_bits_do_not_depend_on_threads) {
  each_isa([] {
    Head m(150, 48, 1001), threaded = m;
    m.forward();
    m.backward(true);
    threaded.forward(two_threads());
    threaded.backward(true, two_threads());
    EXPECT_TRUE(same_bits(m.dh.data(), threaded.dh.data(), int64_t(m.dh.size())));
    EXPECT_TRUE(same_bits(m.dw.data(), threaded.dw.data(), int64_t(m.dw.size())));
  });
}

TEST(noise_is_that_of_the_key_s_words) {
  each_isa([] {
    for (int64_t n : {1, 16, 63, 226, 4100}) {
      const SampleKey key{hone::test::random()(), uint32_t(random_int(0, 1 << 30)), uint32_t(random_int(0, 99)),
                          uint32_t(random_int(0, 9999))};
      std::vector<float> noise = poison(n);
      cpu::noise_of(key, n, noise.data());
      for (int64_t v = 0; v < n; ++v) {
        const uint32_t word = key.words(uint32_t(v / 4))[size_t(v % 4)];
        const double exponential = -std::log(open_closed_u32(word));
        // A relative error of 2^-32 in x gives as much in E; f32 logarithms have errors of 3e-7.
        if (word < 0xffffff00u) EXPECT_NEAR(noise[size_t(v)], -std::log(exponential), 1e-6 * (1 + std::fabs(std::log(exponential))));
      }
    }
  });
}

TEST(the_draw_is_the_argmax_of_logits_and_noise) {
  each_isa([] {
    Head m(300, 12, 103);
    const Samples drawn = sample(m, {1.3f, 0, 1.0f, 0.0f});
    for (int64_t r = 0; r < m.rows; ++r) {
      std::vector<double> y = logits_of(m, r);
      for (double& x : y) x /= double(1.3f);
      expect_draw(r, y, drawn.tokens[size_t(r)]);
    }
  });
}

TEST(draws_follow_what_is_kept_and_report_the_whole_distribution) {
  const SamplingParams cases[] = {{1.0f, 0, 1.0f, 0.0f}, {0.6f, 0, 0.95f, 0.0f}, {1.0f, 5, 1.0f, 0.0f},
                                  {1.5f, 0, 1.0f, 0.2f}, {0.9f, 9, 0.8f, 0.1f},  {2.0f, 12, 0.999f, 0.0f}};
  const int64_t n = 20000;
  Head m = with_logits(kLogits, n);
  for (const SamplingParams& params : cases) {
    const std::vector<double> p = reference_distribution(kLogits, params), whole = whole_distribution(kLogits, params);
    const Samples drawn = sample(m, params);
    std::vector<double> seen(p.size(), 0);
    for (int64_t r = 0; r < n; ++r) {
      const size_t token = size_t(drawn.tokens[size_t(r)]);
      seen[token] += 1;
      EXPECT_TRUE(p[token] > 0);
      EXPECT_NEAR(drawn.logprobs[size_t(r)], std::log(whole[token]), 2e-6);
    }
    double chi2 = 0;
    for (size_t v = 0; v < p.size(); ++v) chi2 += p[v] > 0 ? std::pow(seen[v] - double(n) * p[v], 2) / (double(n) * p[v]) : 0;
    // For at most 12 degrees of freedom 99.99 % of values are below 39. Keys are fixed: no chance failure.
    EXPECT_TRUE(chi2 < 39.0);
  }
}

// The sampled id shows which ids were kept: it is the best of them with the key's noise.
TEST(truncation_keeps_the_right_set) {
  each_isa([] {
    for (int trial = 0; trial < 40; ++trial) {
      const int64_t vocabulary = random_int(1, 70);
      std::vector<float> logits = random_floats(vocabulary, trial % 3 == 0 ? 60.0f : 2.0f);  // 60: a wide range
      for (float& x : logits) x = std::round(x * 2) / 2;  // many ties
      const SamplingParams params{float(random_int(1, 30)) / 10.0f, int32_t(random_int(0, vocabulary + 3)),
                                  float(random_int(1, 10)) / 10.0f, float(random_int(0, 9)) / 10.0f};
      const std::vector<double> p = reference_distribution(logits, params), whole = whole_distribution(logits, params);
      std::vector<double> y;
      for (size_t v = 0; v < p.size(); ++v) y.push_back(p[v] > 0 ? double(logits[v]) / double(params.temperature) : -INFINITY);
      Head m = with_logits(logits, 50);
      const Samples drawn = sample(m, params, two_threads());
      double entropy = 0;
      for (double x : whole) entropy -= x > 0 ? x * std::log(x) : 0;
      for (int64_t r = 0; r < m.rows; ++r) {
        expect_draw(r, y, drawn.tokens[size_t(r)]);
        EXPECT_NEAR(drawn.logprobs[size_t(r)], std::log(whole[size_t(drawn.tokens[size_t(r)])]), 5e-6);
        EXPECT_NEAR(drawn.entropies[size_t(r)], entropy, 1e-5);
      }
    }
  });
}

TEST(greedy_takes_the_lowest_of_the_largest_and_reports_its_log_prob) {
  each_isa([] {
    std::vector<float> logits(40, -1.0f);
    logits[14] = logits[17] = logits[33] = 2.0f;  // the lowest of these ids is not in the lowest lane
    Head m = with_logits(logits, 3);
    const Samples drawn = sample(m, {0.0f, 2, 0.5f, 0.0f});
    const std::vector<double> p = reference_distribution(logits, {1.0f, 0, 1.0f, 0.0f});
    for (int r = 0; r < 3; ++r) {
      EXPECT_EQ(drawn.tokens[size_t(r)], 14);
      EXPECT_NEAR(drawn.logprobs[size_t(r)], std::log(p[14]), 1e-6);
    }
  });
}

TEST(a_set_of_one_is_all_that_is_drawn) {
  Head m = with_logits(kLogits, 20);
  Head equal = with_logits({-200, -200, 0, 0, 0, 0, -200, -200}, 20);  // four ids with probability 1/4 each
  for (const Samples& s : {sample(m, {1.0f, 1, 1.0f, 0.0f}), sample(m, {1.0f, 0, 1e-6f, 0.0f}), sample(equal, {1.0f, 0, 0.25f, 0.0f})}) {
    for (int r = 0; r < 20; ++r) EXPECT_EQ(s.tokens[size_t(r)], 2);
  }
}

TEST(nan_and_infinity_show_in_their_row_only) {
  each_isa([] {
    for (float bad : {std::nanf(""), INFINITY}) {
      Head m(4, 6, 33);
      m.h[6 * 2 + 1] = bad;
      m.forward();
      m.backward(true);
      for (const SamplingParams& params : {SamplingParams{1.0f, 0, 1.0f, 0.0f}, SamplingParams{1.0f, 3, 0.5f, 0.1f}, SamplingParams{0.0f, 0, 1.0f, 0.0f}}) {
        const Samples drawn = sample(m, params);
        for (int r = 0; r < 4; ++r) {
          EXPECT_EQ(std::isnan(drawn.logprobs[size_t(r)]), r == 2);
          EXPECT_TRUE(drawn.tokens[size_t(r)] >= 0 && drawn.tokens[size_t(r)] < 33);
        }
      }
      for (int r = 0; r < 4; ++r) {
        EXPECT_EQ(std::isnan(m.logprobs[size_t(r)]) && std::isnan(m.entropies[size_t(r)]), r == 2);
        EXPECT_EQ(std::isnan(m.dh[size_t(6 * r)]), r == 2);
      }
    }
  });
}

TEST(wrong_arguments_are_named) {
  Head m(3, 4, 5);
  m.targets[1] = 5;
  EXPECT_THROWS(m.forward(), Code::kShape);
  m.targets[1] = -1;
  EXPECT_THROWS(m.forward(), Code::kShape);
  m.targets[1] = 0;
  m.temperature = 0;
  EXPECT_THROWS(m.forward(), Code::kConfig);
  m.temperature = 1;
  m.forward();
  m.packed_t.k = 4;
  EXPECT_THROWS(m.backward(true), Code::kShape);
  for (const SamplingParams& bad : {SamplingParams{-1.0f, 0, 1.0f, 0.0f}, SamplingParams{std::nanf(""), 0, 1.0f, 0.0f},
                                    SamplingParams{1.0f, -1, 1.0f, 0.0f}, SamplingParams{1.0f, 0, 0.0f, 0.0f},
                                    SamplingParams{1.0f, 0, 1.1f, 0.0f}, SamplingParams{1.0f, 0, 1.0f, 1.0f}}) {
    EXPECT_THROWS(sample(m, bad), Code::kConfig);
  }
  Arena small(64, "small");
  Head large(3, 4, 50);
  EXPECT_THROWS(large.forward({}, &small), Code::kOutOfMemory);
  EXPECT_EQ(small.used(), 0);
}

}  // namespace kernels_lm_head_test
