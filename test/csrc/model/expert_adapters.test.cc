// LoRA adapters of experts: W + s B A, and the gradients of A and B, compared with f64 sums in PEFT's layout.
#include "model/expert_adapters.h"

#include "check.h"
#include "kernels/experts.h"

namespace model_expert_adapters_test {
namespace {

using namespace hone;
using model::ExpertAdapters;
using test::random_floats;

constexpr int64_t E = 4, r = 3, N = 10, K = 7, kRows = 9, kChosen = 2;
constexpr float kScale = 1.5f;

struct Made {
  model::ExpertAdapterSizes sizes;
  std::vector<float> a = random_floats(E * r * K), b = random_floats(N * E * r);
  ExpertAdapters adapters;
  Arena packs;

  explicit Made(bool turned)
      : sizes{E, r, N, K, turned}, adapters(f32(a.data(), {E * r, K}), f32(b.data(), {N, E * r}), E, turned), packs(sizes.packed_bytes({}), "test") {
    adapters.pack({}, packs);
    EXPECT_EQ(packs.used(), packs.capacity());
  }
  double a_of(int64_t e, int64_t j, int64_t k) const { return double(a[size_t((e * r + j) * K + k)]); }
  double b_of(int64_t e, int64_t n, int64_t j) const { return double(b[size_t(n * E * r + j * E + e)]); }
};

TEST(add_is_the_product_of_an_experts_own_b_and_a) {
  for (const bool turned : {false, true}) {
    const Made m(turned);
    Arena scratch(m.sizes.form_bytes({}), "test");
    for (int64_t e = 0; e < E; ++e) {
      std::vector<float> w = random_floats(N * K);
      const std::vector<float> before = w;
      m.adapters.add(Stream{}, kScale, e, f32(w.data(), {turned ? K : N, turned ? N : K}), scratch);
      for (int64_t n = 0; n < N; ++n) {
        for (int64_t k = 0; k < K; ++k) {
          const auto at = size_t(turned ? k * N + n : n * K + k);
          double wanted = double(before[at]);
          for (int64_t j = 0; j < r; ++j) wanted += double(kScale) * m.b_of(e, n, j) * m.a_of(e, j, k);
          EXPECT_NEAR(w[at], wanted, 1e-5);
        }
      }
    }
    EXPECT_EQ(scratch.used(), 0);
  }
}

/// Rows that are each routed to two of three experts, never to the third.
struct Routed {
  std::vector<int32_t> experts, begins = std::vector<int32_t>(size_t(E + 1)), rows = std::vector<int32_t>(size_t(kRows * kChosen)), pairs = rows;
  std::vector<float> dy = random_floats(kRows * kChosen * N), x = random_floats(kRows * kChosen * K);

  Routed() {
    for (int64_t row = 0; row < kRows; ++row) experts.push_back(row % 2 ? 0 : 1), experts.push_back(3);
    kernels::group_rows({}, {i32(experts.data(), {kRows, kChosen}), i32(begins.data(), {E + 1}), i32(rows.data(), {kRows * kChosen}), i32(pairs.data(), {kRows, kChosen})});
  }
  model::ExpertPairs of(int64_t first, int64_t last) {
    return {f32(dy.data(), {kRows * kChosen, N}), f32(x.data(), {kRows * kChosen, K}), i32(begins.data(), {E + 1}), i32(rows.data(), {kRows * kChosen}), first, last};
  }
};

TEST(gradients_are_sums_over_an_experts_own_pairs_of_the_rows_that_count) {
  const Made m(false);
  Routed routed;
  const std::vector<float> da_before = random_floats(E * r * K), db_before = random_floats(N * E * r);
  std::vector<float> da = da_before, db = db_before;
  Arena scratch(m.sizes.gradient_bytes({}, kRows * kChosen), "test");
  m.adapters.gradient(Stream{}, kScale, routed.of(2, 8), f32(da.data(), {E * r, K}), f32(db.data(), {N, E * r}), scratch);
  EXPECT_EQ(scratch.used(), 0);
  std::vector<double> wanted_a(da_before.begin(), da_before.end()), wanted_b(db_before.begin(), db_before.end());
  for (int64_t e = 0; e < E; ++e) {
    for (int32_t p = routed.begins[size_t(e)]; p < routed.begins[size_t(e + 1)]; ++p) {
      if (routed.rows[size_t(p)] < 2 || routed.rows[size_t(p)] >= 8) continue;
      for (int64_t n = 0; n < N; ++n) {
        for (int64_t k = 0; k < K; ++k) {
          const double dw = double(kScale) * double(routed.dy[size_t(p * N + n)]) * double(routed.x[size_t(p * K + k)]);
          for (int64_t j = 0; j < r; ++j) {
            wanted_a[size_t((e * r + j) * K + k)] += m.b_of(e, n, j) * dw;
            wanted_b[size_t(n * E * r + j * E + e)] += m.a_of(e, j, k) * dw;
          }
        }
      }
    }
  }
  for (size_t i = 0; i < da.size(); ++i) EXPECT_NEAR(da[i], wanted_a[i], 2e-5);
  for (size_t i = 0; i < db.size(); ++i) EXPECT_NEAR(db[i], wanted_b[i], 2e-5);
}

TEST(gradients_have_the_same_bits_in_any_parts_and_on_any_number_of_threads) {
  const Made m(false);
  Routed routed;
  ThreadPool pool(2);
  Arena scratch(m.sizes.gradient_bytes({}, kRows * kChosen), "test");
  std::vector<float> whole(size_t(E * r * K + N * E * r), 0.0f), parts = whole;
  const auto add = [&](const Stream& stream, std::vector<float>& to, int64_t first, int64_t last) {
    m.adapters.gradient(stream, kScale, routed.of(first, last), f32(to.data(), {E * r, K}), f32(to.data() + E * r * K, {N, E * r}), scratch);
  };
  add(Stream{}, whole, 0, kRows);
  for (int64_t row = 0; row < kRows; row += 3) add(Stream{.pool = &pool}, parts, row, row + 3);
  EXPECT_TRUE(test::same_bits(whole.data(), parts.data(), int64_t(whole.size())));
}

}  // namespace
}  // namespace model_expert_adapters_test
