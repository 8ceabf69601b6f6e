// Sampling on the device: the bits of the statistics pass, the CPU's tokens, and truncation compared with
// sorting in f64.
//
// Faults put into the code, each detected by the test named: the next block's words, nine rounds, halves of
// the seed or attempt and problem exchanged (tokens_are_those_of_the_cpu); ties to the higher id within a
// lane or between lanes, noise for a greedy row (greedy); rows of another tile height computed in one part
// (bits_of_the_statistics_pass); the first chunk's params or keys used for all, logits of one tile stored
// over another's (chunks, truncation_keeps); count or mass compared strictly, ties to higher ids, all ties
// kept (ties_at_a_cut); the crossing token left out, mass of the whole row after top-k, min-p left out, the
// larger of two sets, mass above not carried on, keys without sign, a barrier missing (truncation); log-prob
// of the truncated distribution (bits_of_the_statistics_pass). Searching a cut for a non-finite row cannot be
// detected: its log-prob is NaN either way.
#include "each_way.h"
#include "head.h"

#include <functional>
#include <numeric>

#include "kernels/matmul.h"

namespace kernels_cuda_lm_head_sample_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

TEST_SETUP { say_hopper(); }

#ifdef HONE_HAVE_CUDA

namespace {

const SamplingParams kPlain{1.0f, 0, 1.0f, 0.0f};

Samples cpu_sample(const Head& m, const std::vector<SamplingParams>& params) {
  std::vector<float> panels(size_t(packed_bytes({}, m.vocabulary, m.width, DType::kF32)) / 4);
  const PackedMatrix w{m.vocabulary, m.width, DType::kF32, panels.data()};
  pack_matrix({}, {f32(m.w.data(), {m.vocabulary, m.width}), false, w});
  std::vector<SamplingParams> all;
  std::vector<SampleKey> keys;
  for (int64_t r = 0; r < m.rows; ++r) {
    all.push_back(params[size_t(r) % params.size()]);
    keys.push_back(key_of(r));
  }
  Samples out{std::vector<int32_t>(size_t(m.rows)), poison(m.rows), poison(m.rows)};
  lm_head_sample({}, {f32(m.h.data(), {m.rows, m.width}), w, all.data(), keys.data(), i32(out.tokens.data(), {m.rows}),
                      f32(out.logprobs.data(), {m.rows}), f32(out.entropies.data(), {m.rows}), nullptr});
  return out;
}

/// A head whose rows have the given logits, which must be bf16 numbers: W is the identity.
Head with_logits(const std::vector<std::vector<float>>& logits) {
  const int64_t v = int64_t(logits[0].size()), c = (v + 7) / 8 * 8;
  Head m(int64_t(logits.size()), c, v, true);
  m.h.assign(m.h.size(), 0.0f);
  m.w.assign(m.w.size(), 0.0f);
  for (int64_t r = 0; r < m.rows; ++r) std::copy(logits[size_t(r)].begin(), logits[size_t(r)].end(), m.h.begin() + r * c);
  for (int64_t i = 0; i < v; ++i) m.w[size_t(i * c + i)] = 1.0f;
  return m;
}

/// The distribution after truncation, in f64, by sorting. *margin: how close the cut by mass or min-p is to
/// another cut.
std::vector<double> truth_of(const std::vector<double>& logits, const SamplingParams& params, double* margin = nullptr) {
  const size_t n = logits.size();
  std::vector<double> p(n);
  const double top = *std::max_element(logits.begin(), logits.end());
  double total = 0, nearest = 1;
  for (size_t v = 0; v < n; ++v) total += p[v] = std::exp((logits[v] - top) / double(params.temperature));
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
    while (count < n && mass < double(params.top_p)) {
      mass += p[order[count++]];
      nearest = std::min(nearest, std::fabs(mass - double(params.top_p)));
    }
    keep_first(count);
  }
  size_t count = 0;
  for (; count < n && p[order[count]] > 0; ++count) {
    const double weight = p[order[count]] / p[order[0]];
    nearest = std::min(nearest, std::fabs(weight - double(params.min_p)));
    if (weight < double(params.min_p)) break;
  }
  keep_first(count);
  if (margin) *margin = nearest;
  return p;
}

std::vector<double> in_f64(const std::vector<float>& x) { return {x.begin(), x.end()}; }

const std::vector<float> kLogits = {0.25f, -1.0f, 2.0f, 0.5f, 0.5f, -3.0f, 1.75f, 0.5f, -0.25f, 1.125f, -8.0f, 0.875f, 0.0f};

SamplingParams random_params(int64_t vocabulary) {
  return {float(random_int(1, 30)) / 10.0f, int32_t(random_int(0, 1) * random_int(1, vocabulary + 3)),
          float(random_int(1, 10)) / 10.0f, float(random_int(0, 1) * random_int(0, 9)) / 10.0f};
}

std::vector<double> whole_of(const std::vector<double>& logits, const SamplingParams& params) {
  return truth_of(logits, {params.temperature, 0, 1.0f, 0.0f});
}

/// How far `token`'s logit / temperature + noise of row r's key is below that of the best token with p > 0.
double behind(const std::vector<double>& logits, const std::vector<double>& p, float temperature, int64_t r, int32_t token) {
  const auto noisy = [&](size_t v) {
    const uint32_t word = key_of(r).words(uint32_t(v / 4))[v % 4];
    return logits[v] / double(temperature) - std::log(-std::log(open_closed_u32(word)));
  };
  double best = -INFINITY;
  for (size_t v = 0; v < p.size(); ++v) best = p[v] > 0 ? std::max(best, noisy(v)) : best;
  return best - noisy(size_t(token));
}

double entropy_of(const std::vector<double>& p) {
  double entropy = 0;
  for (const double x : p) entropy -= x > 0 ? x * std::log(x) : 0;
  return entropy;
}

}  // namespace

TEST(the_log_prob_of_a_draw_has_the_bits_of_the_statistics_pass_whatever_is_truncated) {
  NEEDS_DEVICE;
  each_way([] {
    for (const int64_t rows : {1, 17}) {
      for (const bool tied : {false, true}) {
        Head m(rows, tied ? 40 : 552, 130, tied);
        m.temperature = 0.7f;
        const Samples drawn = m.sample({{0.7f, 0, 1.0f, 0.0f}, {0.7f, 20, 1.0f, 0.0f}, {0.7f, 0, 0.5f, 0.0f},
                                        {0.7f, 0, 1.0f, 0.3f}, {0.7f, 30, 0.8f, 0.1f}});
        m.targets = drawn.tokens;
        m.forward();
        EXPECT_TRUE(same_bits(m.logprobs.data(), drawn.logprobs.data(), rows));
        EXPECT_TRUE(same_bits(m.entropies.data(), drawn.entropies.data(), rows));
      }
    }
  });
}

TEST(a_row_alone_has_the_bits_it_has_in_a_batch) {
  NEEDS_DEVICE;
  each_way([] {
    const std::vector<SamplingParams> mixed = {kPlain, {0.6f, 0, 0.9f, 0.0f}, {0.0f, 0, 1.0f, 0.0f}, {1.2f, 20, 1.0f, 0.05f}};
    for (const bool tied : {false, true}) {
      const Head m(64, 16, 150, tied);
      const Samples all = m.sample(mixed);
      for (const int64_t r : {0, 17, 62, 63}) {
        const Samples one = m.part(r, 1).sample({mixed[size_t(r % 4)]}, r);
        EXPECT_EQ(one.tokens[0], all.tokens[size_t(r)]);
        EXPECT_TRUE(same_bits(&one.logprobs[0], &all.logprobs[size_t(r)], 1));
        EXPECT_TRUE(same_bits(&one.entropies[0], &all.entropies[size_t(r)], 1));
      }
    }
  });
}

// Logits with one non-zero product are exact on CPU and device, and so is the noise: every token must agree.
TEST(tokens_are_those_of_the_cpu) {
  NEEDS_DEVICE;
  std::vector<std::vector<float>> logits;
  std::vector<SamplingParams> params;
  for (int r = 0; r < 96; ++r) {
    logits.push_back(rounded_to_bf16(random_floats(150, 2.0f)));
    params.push_back({float(random_int(0, 20)) / 10.0f, 0, 1.0f, 0.0f});
  }
  const Head m = with_logits(logits);
  const Samples ours = m.sample(params), cpu = cpu_sample(m, params);
  EXPECT_TRUE(ours.tokens == cpu.tokens);
  for (size_t r = 0; r < 96; ++r) {
    EXPECT_NEAR(ours.logprobs[r], cpu.logprobs[r], 3e-6);
    EXPECT_NEAR(ours.entropies[r], cpu.entropies[r], 3e-6);
  }
}

// Padding ids have logits far above or below the others, and are excluded in half of the rows: CPU and device
// sample the same.
TEST(tokens_of_a_padded_head_are_those_of_the_cpu) {
  NEEDS_DEVICE;
  std::vector<std::vector<float>> logits;
  std::vector<SamplingParams> params;
  for (int r = 0; r < 96; ++r) {
    logits.push_back(rounded_to_bf16(random_floats(150, 2.0f)));
    for (size_t v = 131; v < 150; ++v) logits.back()[v] = r % 3 ? 30.0f : -1.0f;
    params.push_back({1.0f, r % 5 ? 0 : 7, r % 7 ? 1.0f : 0.75f, r % 11 ? 0.0f : 0.3f, r % 2 ? 131 : 0});
  }
  const Head m = with_logits(logits);
  const Samples ours = m.sample(params), cpu = cpu_sample(m, params);
  for (size_t r = 0; r < 96; ++r) {
    EXPECT_EQ(ours.tokens[r], cpu.tokens[r]);
    EXPECT_TRUE(r % 2 == 0 || ours.tokens[r] < 131);
    EXPECT_NEAR(ours.logprobs[r], cpu.logprobs[r], 3e-6);
  }
}

// Sums of many products differ in their last bits: a token may differ only if the two best noisy logits are
// within 1e-4.
TEST(tokens_of_long_sums_are_those_of_the_cpu_but_for_near_ties) {
  NEEDS_DEVICE;
  const Head m(40, 264, 230);
  const Samples ours = m.sample({{1.3f, 0, 1.0f, 0.0f}}), cpu = cpu_sample(m, {{1.3f, 0, 1.0f, 0.0f}});
  for (int64_t r = 0; r < m.rows; ++r) {
    std::vector<double> logits;
    for (int64_t v = 0; v < m.vocabulary; ++v) logits.push_back(m.logit(r, v));
    const std::vector<double> p(logits.size(), 1.0);
    const int32_t a = ours.tokens[size_t(r)];
    EXPECT_TRUE(a == cpu.tokens[size_t(r)] || behind(logits, p, 1.3f, r, a) < 1e-4);
  }
}

TEST(draws_follow_what_is_kept_and_report_the_whole_distribution) {
  NEEDS_DEVICE;
  const std::pair<SamplingParams, int64_t> cases[] = {{kPlain, 400}, {{0.9f, 9, 0.8f, 0.1f}, 60}};
  for (const auto& [params, n] : cases) {
    const Head m = with_logits(std::vector<std::vector<float>>(size_t(n), kLogits));
    const std::vector<double> p = truth_of(in_f64(kLogits), params), whole = whole_of(in_f64(kLogits), params);
    const Samples drawn = m.sample({params});
    std::vector<double> seen(p.size(), 0);
    for (int64_t r = 0; r < n; ++r) {
      const size_t token = size_t(drawn.tokens[size_t(r)]);
      seen[token] += 1;
      EXPECT_TRUE(p[token] > 0);
      EXPECT_NEAR(drawn.logprobs[size_t(r)], std::log(whole[token]), 3e-6);
    }
    double chi2 = 0;
    for (size_t v = 0; v < p.size(); ++v) {
      if (p[v] > 0) chi2 += (seen[v] - double(n) * p[v]) * (seen[v] - double(n) * p[v]) / (double(n) * p[v]);
    }
    // For at most 12 degrees of freedom 99.99 % of values are below 39. Keys are fixed, so the test cannot
    // fail by chance.
    EXPECT_TRUE(chi2 < 39.0);
  }
}

// Logits in steps of 1/2 have many ties; every row has its own params. The winning token shows which ids were
// kept.
TEST(truncation_keeps_the_set_that_sorting_keeps) {
  NEEDS_DEVICE;
  int checked = 0;
  for (const int64_t vocabulary : {1, 7, 70, 260}) {
    std::vector<std::vector<float>> logits;
    std::vector<SamplingParams> params;
    for (int r = 0; r < 14; ++r) {
      logits.push_back(random_floats(vocabulary, 2.0f));
      for (float& x : logits.back()) x = std::round(x * 2) / 2;
      params.push_back(random_params(vocabulary));
    }
    const Samples drawn = with_logits(logits).sample(params);
    for (size_t r = 0; r < logits.size(); ++r) {
      double margin;
      const std::vector<double> row = in_f64(logits[r]), p = truth_of(row, params[r], &margin), whole = whole_of(row, params[r]);
      EXPECT_NEAR(drawn.entropies[r], entropy_of(whole), 1e-5);
      EXPECT_NEAR(drawn.logprobs[r], std::log(whole[size_t(drawn.tokens[r])]), 5e-6);
      if (margin < 1e-6) continue;
      ++checked;
      EXPECT_TRUE(p[size_t(drawn.tokens[r])] > 0);
      EXPECT_TRUE(behind(row, p, params[r].temperature, int64_t(r), drawn.tokens[r]) < 1e-4);
    }
  }
  EXPECT_TRUE(checked > 30);
}

// Keys that differ only in their last digits, and a vocabulary of several tiles: weights are almost equal, so
// that a wrong cut lets another id win in some rows.
TEST(truncation_tells_neighbouring_logits_apart) {
  NEEDS_DEVICE;
  Head m(24, 8, 900, false, 0.001f);
  std::vector<SamplingParams> params;
  for (int64_t r = 0; r < m.rows; ++r) {
    params.push_back({1.0f, r % 2 ? int32_t(random_int(1, 900)) : 0, r % 3 ? 1.0f : 0.5f, 0.0f});
  }
  const Samples drawn = m.sample(params);
  for (int64_t r = 0; r < m.rows; ++r) {
    std::vector<double> logits;
    for (int64_t v = 0; v < m.vocabulary; ++v) logits.push_back(m.logit(r, v));
    const int32_t token = drawn.tokens[size_t(r)];
    EXPECT_NEAR(drawn.logprobs[size_t(r)], -std::log(900.0), 0.01);
    // Rounding may move the cut by an id or two: ids before it must be kept, ids after it must not.
    const std::vector<double> p = truth_of(logits, params[size_t(r)]);
    const auto kept = size_t(std::count_if(p.begin(), p.end(), [](double x) { return x > 0; }));
    std::vector<double> sorted = logits, certain;
    std::sort(sorted.begin(), sorted.end(), std::greater<double>());
    for (const double z : logits) certain.push_back(z >= sorted[kept > 3 ? kept - 3 : 0] ? 1.0 : 0.0);
    EXPECT_TRUE(logits[size_t(token)] >= sorted[std::min(kept + 1, sorted.size() - 1)]);
    EXPECT_TRUE(behind(logits, certain, 1.0f, r, token) < 1e-4);
  }
}

// Weights are equal and masses multiples of one, so that the crossing is exact. Half of ten is five: the
// lowest ids.
TEST(ties_at_a_cut_keep_the_lowest_ids) {
  NEEDS_DEVICE;
  std::vector<float> logits(300, -40.0f);
  for (int i = 0; i < 10; ++i) logits[size_t(29 * i + 3)] = 0.0f;
  const Head m = with_logits(std::vector<std::vector<float>>(24, logits));
  const Samples drawn = m.sample({{1.0f, 0, 0.5f, 0.0f}, {1.0f, 5, 1.0f, 0.0f}, {1.0f, 10, 0.5f, 0.5f}});
  std::vector<int> seen(300, 0);
  for (int r = 0; r < 24; ++r) {
    ++seen[size_t(drawn.tokens[size_t(r)])];
    EXPECT_NEAR(drawn.logprobs[size_t(r)], -std::log(10.0), 1e-6);
  }
  for (int v = 0; v < 300; ++v) EXPECT_EQ(seen[size_t(v)] > 0, v % 29 == 3 && v < 29 * 5);
}

TEST(a_set_of_one_is_all_that_is_drawn) {
  NEEDS_DEVICE;
  const Head m = with_logits(std::vector<std::vector<float>>(6, kLogits));
  const Samples drawn = m.sample({{1.0f, 1, 1.0f, 0.0f}, {1.0f, 0, 1e-6f, 0.0f}, {0.1f, 0, 1.0f, 0.999f}});
  for (const int32_t token : drawn.tokens) EXPECT_EQ(token, 2);
}

TEST(greedy_takes_the_lowest_of_the_largest_and_reports_its_log_prob) {
  NEEDS_DEVICE;
  std::vector<float> logits(300, -1.0f);
  logits[133] = logits[134] = logits[170] = logits[290] = 2.0f;
  const Samples drawn = with_logits({logits, logits}).sample({{0.0f, 2, 0.5f, 0.0f}, {0.0f, 0, 1.0f, 0.0f}});
  const double expected = std::log(truth_of(in_f64(logits), kPlain)[133]);
  for (int r = 0; r < 2; ++r) {
    EXPECT_EQ(drawn.tokens[size_t(r)], 133);
    EXPECT_NEAR(drawn.logprobs[size_t(r)], expected, 1e-6);
  }
}

TEST(nan_and_infinity_show_in_their_row_only) {
  NEEDS_DEVICE;
  for (const float bad : {std::nanf(""), INFINITY}) {
    Head m(4, 8, 33);
    m.h[8 * 2 + 1] = bad;
    for (const SamplingParams& params : {kPlain, SamplingParams{1.0f, 3, 0.5f, 0.1f}, SamplingParams{0.0f, 0, 1.0f, 0.0f}}) {
      const Samples drawn = m.sample({params});
      for (int r = 0; r < 4; ++r) {
        EXPECT_EQ(std::isnan(drawn.logprobs[size_t(r)]), r == 2);
        EXPECT_TRUE(drawn.tokens[size_t(r)] >= 0 && drawn.tokens[size_t(r)] < 33);
      }
    }
  }
}

// There are more rows than in one launch.
TEST(chunks_of_rows_have_their_own_params_and_keys) {
  NEEDS_DEVICE;
  std::vector<std::vector<float>> logits(270, kLogits);
  const Head m = with_logits(logits);
  std::vector<SamplingParams> params;
  for (int r = 0; r < 270; ++r) params.push_back({1.0f + 0.01f * float(r % 50), r % 9 ? 0 : 4, 1.0f, 0.0f});
  const Samples ours = m.sample(params), cpu = cpu_sample(m, params);
  EXPECT_TRUE(ours.tokens == cpu.tokens);
  for (size_t r = 0; r < 270; ++r) EXPECT_NEAR(ours.logprobs[r], cpu.logprobs[r], 3e-6);
}

TEST(no_rows_draw_nothing) {
  NEEDS_DEVICE;
  EXPECT_TRUE(Head(0, 8, 5).sample({kPlain}).tokens.empty());
}

#endif

}  // namespace kernels_cuda_lm_head_sample_test
