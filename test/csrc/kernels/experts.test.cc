// Routing to experts, grouping by expert, products per expert and their gradients, compared with sorting and
// f64 sums.
#include "kernels/experts.h"

#include <algorithm>
#include <numeric>

#include "each_isa.h"

namespace kernels_experts_test {
namespace {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

using Numbers = std::vector<double>;

Numbers scores_of(const float* logits, int64_t experts, bool sigmoid) {
  Numbers out(logits, logits + experts);
  double total = 0.0;
  for (double& x : out) total += x = sigmoid ? 1.0 / (1.0 + std::exp(-x)) : std::exp(x);
  for (double& x : out) x /= sigmoid ? 1.0 : total;
  return out;
}

/// Indices of the `count` highest values, the first ones if equal, in ascending order.
std::vector<int32_t> highest(const Numbers& of, int64_t count) {
  std::vector<int32_t> order(of.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return of[size_t(a)] > of[size_t(b)]; });
  order.resize(size_t(count));
  std::sort(order.begin(), order.end());
  return order;
}

std::vector<int32_t> choice(Numbers worth, int64_t k, const Routing& how) {
  const auto size = int64_t(worth.size()) / how.groups;
  if (how.groups > 1) {
    Numbers groups;
    for (auto at = worth.begin(); at != worth.end(); at += size) {
      Numbers members(at, at + size);
      std::sort(members.rbegin(), members.rend());
      groups.push_back(members[0] + members[1]);
    }
    const auto open = highest(groups, how.chosen_groups);
    for (int64_t e = 0; e < int64_t(worth.size()); ++e) {
      if (std::find(open.begin(), open.end(), int32_t(e / size)) == open.end()) worth[size_t(e)] = -INFINITY;
    }
  }
  return highest(worth, k);
}

Numbers weights_of(const Numbers& scores, const std::vector<int32_t>& chosen, const Routing& how) {
  Numbers out;
  double sum = 0.0;
  for (const int32_t e : chosen) out.push_back(scores[size_t(e)]), sum += out.back();
  for (double& w : out) w *= double(how.scaling) / (how.normalized ? sum + double(how.least_sum) : 1.0);
  return out;
}

struct Case {
  int64_t rows, experts, k;
  Routing how;
  bool correction = false;
};

std::vector<Case> cases() {
  return {{5, 6, 2, {}}, {3, 128, 8, {.normalized = true}}, {40, 17, 1, {.normalized = true, .scaling = 0.5f}},
          {4, 5, 5, {.sigmoid = true}}, {7, 24, 4, {.sigmoid = true, .normalized = true, .scaling = 2.5f, .groups = 6, .chosen_groups = 3}, true},
          {6, 16, 3, {.sigmoid = true, .normalized = true, .groups = 8, .chosen_groups = 2}, true}, {2, 20, 4, {.groups = 2, .chosen_groups = 1}},
          {6, 12, 3, {.sigmoid = true, .normalized = true, .least_sum = 0.25f}, true}};
}

/// A case's arrays after routing.
struct Routed {
  std::vector<float> logits, correction, scores, weights;
  std::vector<int32_t> experts;

  Routed(const Case& c, const Stream& stream) : logits(random_floats(c.rows * c.experts, 2.0f)), scores(logits), weights(poison(c.rows * c.k)), experts(size_t(c.rows * c.k), -1) {
    if (c.correction) correction = random_floats(c.experts, 0.5f);
    run(c, stream);
  }
  void run(const Case& c, const Stream& stream) {
    const TensorView added = c.correction ? f32(correction.data(), {c.experts}) : TensorView{};
    route(stream, {f32(scores.data(), {c.rows, c.experts}), added, i32(experts.data(), {c.rows, c.k}), f32(weights.data(), {c.rows, c.k}), c.how});
  }
};

TEST(experts_are_chosen_and_weighed_as_by_sorting_in_f64) {
  each_isa([] {
    for (const Case& c : cases()) {
      for (const Stream& stream : {Stream{}, two_threads()}) {
        const Routed routed(c, stream);
        for (int64_t r = 0; r < c.rows; ++r) {
          const Numbers scores = scores_of(routed.logits.data() + r * c.experts, c.experts, c.how.sigmoid);
          Numbers worth = scores;
          for (size_t e = 0; e < routed.correction.size(); ++e) worth[e] += double(routed.correction[e]);
          const std::vector<int32_t> chosen = choice(worth, c.k, c.how);
          const Numbers weights = weights_of(scores, chosen, c.how);
          for (size_t j = 0; j < chosen.size(); ++j) {
            EXPECT_EQ(routed.experts[size_t(r * c.k) + j], chosen[j]);
            EXPECT_NEAR(routed.weights[size_t(r * c.k) + j], weights[j], 1e-6);
          }
        }
      }
    }
  });
}

TEST(given_experts_are_kept_weighed_by_the_scores_and_counted_where_the_router_would_choose_others) {
  each_isa([] {
    for (const Case& c : cases()) {
      const Routed free(c, {});
      Routed given = free;
      given.scores = given.logits;
      int64_t wanted = 0, replaced = 0;
      for (int64_t r = 0; r < c.rows; ++r) {
        int32_t* const own = given.experts.data() + r * c.k;
        // the last k experts, whether their groups can be chosen or not
        if (r % 3 == 0) std::iota(own, own + c.k, int32_t(c.experts - c.k));
        if (r % 3 == 1) own[0] = -1;
        wanted += r % 3 == 0 && !std::equal(own, own + c.k, free.experts.data() + r * c.k);
      }
      const std::vector<int32_t> before = given.experts;
      const TensorView added = c.correction ? f32(given.correction.data(), {c.experts}) : TensorView{};
      route(two_threads(), {f32(given.scores.data(), {c.rows, c.experts}), added, i32(given.experts.data(), {c.rows, c.k}), f32(given.weights.data(), {c.rows, c.k}), c.how, true, &replaced});
      EXPECT_EQ(replaced, wanted);
      for (int64_t r = 0; r < c.rows; ++r) {
        const Numbers scores = scores_of(given.logits.data() + r * c.experts, c.experts, c.how.sigmoid);
        const int32_t* const kept = (r % 3 == 1 ? free.experts : before).data() + r * c.k;
        const Numbers weights = weights_of(scores, {kept, kept + c.k}, c.how);
        for (int64_t j = 0; j < c.k; ++j) {
          EXPECT_EQ(given.experts[size_t(r * c.k + j)], kept[j]);
          EXPECT_NEAR(given.weights[size_t(r * c.k + j)], weights[size_t(j)], 1e-6 * (1.0 + weights[size_t(j)]));
        }
      }
      EXPECT_TRUE(same_bits(given.scores.data(), free.scores.data(), c.rows * c.experts));
    }
  });
}

TEST(of_equal_scores_the_lower_index_is_chosen_and_nothing_is_read_out_of_numbers_that_are_none) {
  const Case c{1, 6, 2, {.normalized = true}};
  Routed routed(c, {});
  routed.scores = {1, 3, 3, 3, 0, 3};
  routed.run(c, {});
  EXPECT_EQ(routed.experts[0], 1);
  EXPECT_EQ(routed.experts[1], 2);
  EXPECT_EQ(routed.weights[0], 0.5f);
  routed.scores.assign(6, std::nanf(""));
  routed.run(c, {});
  EXPECT_EQ(routed.experts[0], 0);
  EXPECT_EQ(routed.experts[1], 1);
  EXPECT_TRUE(std::isnan(routed.weights[0]));
}

TEST(the_gradient_is_that_of_f64_differences) {
  each_isa([] {
    for (const Case& c : cases()) {
      Routed routed(c, {});
      const std::vector<float> dweights = random_floats(c.rows * c.k);
      route_grad(two_threads(), {f32(routed.scores.data(), {c.rows, c.experts}), i32(routed.experts.data(), {c.rows, c.k}), f32(dweights.data(), {c.rows, c.k}),
                                 f32(routed.scores.data(), {c.rows, c.experts}), c.how});
      for (int64_t r = 0; r < c.rows; ++r) {
        const int32_t* const chosen = routed.experts.data() + r * c.k;
        const auto value = [&](int64_t e, double step) {
          std::vector<float> z(routed.logits.begin() + r * c.experts, routed.logits.begin() + (r + 1) * c.experts);
          Numbers moved(z.begin(), z.end());
          moved[size_t(e)] += step;
          double total = 0.0, out = 0.0;
          for (double& x : moved) total += x = c.how.sigmoid ? 1.0 / (1.0 + std::exp(-x)) : std::exp(x);
          const Numbers weights = weights_of(moved, {chosen, chosen + c.k}, c.how);
          for (int64_t j = 0; j < c.k; ++j) out += double(dweights[size_t(r * c.k + j)]) * weights[size_t(j)];
          return c.how.sigmoid || c.how.normalized ? out : out / total;
        };
        for (int64_t e = 0; e < c.experts; ++e) {
          EXPECT_NEAR(routed.scores[size_t(r * c.experts + e)], (value(e, 1e-5) - value(e, -1e-5)) / 2e-5, 2e-5);
        }
      }
    }
  });
}

/// Pairs of R rows with k of E experts each.
struct Grouped {
  int64_t rows, experts, k;
  std::vector<int32_t> chosen, begins, row_of, pairs;

  Grouped(int64_t r, int64_t e, int64_t n) : rows(r), experts(e), k(n), begins(size_t(e + 1), -1), row_of(size_t(r * n), -1), pairs(size_t(r * n), -1) {
    for (int64_t i = 0; i < r; ++i) {
      std::vector<int32_t> all(size_t(e), 0);
      std::iota(all.begin(), all.end(), 0);
      std::shuffle(all.begin(), all.end(), test::random());
      std::sort(all.begin(), all.begin() + n);
      chosen.insert(chosen.end(), all.begin(), all.begin() + n);
    }
    group_rows({}, {i32(chosen.data(), {r, n}), begin_view(), row_view(), pair_view()});
  }
  TensorView begin_view() const { return i32(begins.data(), {experts + 1}); }
  TensorView row_view() const { return i32(row_of.data(), {rows * k}); }
  TensorView pair_view() const { return i32(pairs.data(), {rows, k}); }
  int64_t expert_of(int64_t pair) const { return std::upper_bound(begins.begin(), begins.end(), int32_t(pair)) - begins.begin() - 1; }
};

TEST(pairs_are_sorted_by_expert_then_row) {
  const Grouped g(9, 5, 2);
  EXPECT_EQ(g.begins.back(), 18);
  for (int64_t i = 0; i < 18; ++i) {
    const auto p = int64_t(g.pairs[size_t(i)]);
    EXPECT_EQ(g.row_of[size_t(p)], int32_t(i / 2));
    EXPECT_EQ(g.expert_of(p), int64_t(g.chosen[size_t(i)]));
  }
  for (size_t p = 1; p < 18; ++p) {
    if (g.expert_of(int64_t(p)) == g.expert_of(int64_t(p) - 1)) EXPECT_TRUE(g.row_of[p] > g.row_of[p - 1]);
  }
}

struct Matrices {
  std::vector<float> values;
  std::vector<std::vector<float>> panels;
  std::vector<PackedMatrix> packed;

  Matrices(int64_t count, int64_t n, int64_t k) : values(random_floats(count * n * k)) {
    for (int64_t e = 0; e < count; ++e) {
      panels.emplace_back(size_t(packed_bytes({}, n, k, DType::kF32) / 4));
      packed.push_back({n, k, DType::kF32, panels.back().data()});
      pack_matrix({}, {.w = f32(values.data() + e * n * k, {n, k}), .transpose = false, .out = packed.back()});
    }
  }
};

TEST(a_pair_has_the_bits_of_a_product_of_its_row_alone) {
  each_isa([] {
    constexpr int64_t kSizes[][3] = {{1, 4, 2}, {13, 7, 3}, {60, 3, 1}};
    for (const auto& [rows, experts, k] : kSizes) {
      const Grouped g(rows, experts, k);
      const int64_t N = 37, K = 21, P = rows * k;
      const Matrices w(experts, N, K);
      const std::vector<float> x = random_floats(P * K);
      for (const Stream& stream : {Stream{}, two_threads()}) {
        std::vector<float> y = poison(P * N), alone = poison(N);
        experts_linear(stream, {f32(x.data(), {P, K}), g.begin_view(), w.packed, f32(y.data(), {P, N})});
        for (int64_t p = 0; p < P; ++p) {
          linear({}, {.x = f32(x.data() + p * K, {1, K}), .w = w.packed[size_t(g.expert_of(p))], .bias = {}, .y = f32(alone.data(), {1, N})});
          EXPECT_TRUE(same_bits(alone.data(), y.data() + p * N, N));
        }
      }
    }
  });
}

TEST(gradients_of_weights_are_sums_over_an_experts_rows_of_a_block) {
  each_isa([] {
    const Grouped g(19, 4, 2);
    const int64_t N = 13, K = 18, P = 38;
    const std::vector<float> x = random_floats(P * K), dy = random_floats(P * N), before = random_floats(4 * N * K);
    for (const auto& [first, last] : {std::pair<int64_t, int64_t>{0, 19}, {5, 11}, {7, 7}}) {
      std::vector<float> dw = before;
      experts_grad_weight(two_threads(), {.dy = f32(dy.data(), {P, N}), .x = f32(x.data(), {P, K}), .begins = g.begin_view(), .rows = g.row_view(),
                                          .dw = f32(dw.data(), {4 * N, K}), .first_row = first, .last_row = last});
      Numbers expected(before.begin(), before.end());
      for (int64_t p = 0; p < P; ++p) {
        if (g.row_of[size_t(p)] < first || g.row_of[size_t(p)] >= last) continue;
        for (int64_t n = 0; n < N; ++n) {
          for (int64_t i = 0; i < K; ++i) expected[size_t((g.expert_of(p) * N + n) * K + i)] += double(dy[size_t(p * N + n)]) * double(x[size_t(p * K + i)]);
        }
      }
      for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(dw[i], expected[i], 1e-5);
    }
  });
}

TEST(rows_are_combined_in_the_order_of_experts_whatever_else_is_there) {
  each_isa([] {
    const Grouped g(11, 6, 3);
    const int64_t C = 33;
    const std::vector<float> from = random_floats(33 * C), weights = random_floats(33), start = random_floats(11 * C);
    for (const bool weighed : {true, false}) {
      std::vector<float> to = start;
      combine_rows(two_threads(), {f32(from.data(), {33, C}), g.pair_view(), weighed ? f32(weights.data(), {11, 3}) : TensorView{}, f32(to.data(), {11, C})});
      for (int64_t r = 0; r < 11; ++r) {
        for (int64_t i = 0; i < C; ++i) {
          double sum = double(start[size_t(r * C + i)]);
          for (int64_t j = 0; j < 3; ++j) {
            sum += (weighed ? double(weights[size_t(r * 3 + j)]) : 1.0) * double(from[size_t(g.pairs[size_t(r * 3 + j)] * C + i)]);
          }
          EXPECT_NEAR(to[size_t(r * C + i)], sum, 2e-6);
        }
      }
    }
  });
}

TEST(pairs_are_weighed_after_their_gradient_is_taken) {
  each_isa([] {
    const Grouped g(5, 4, 2);
    const int64_t F = 19, G = 38;
    const std::vector<float> weights = random_floats(10), d = random_floats(10 * F), product = random_floats(10 * F), beside = random_floats(10 * G);
    std::vector<float> p = product, b = beside, dweights = poison(10);
    weigh_pairs(two_threads(), {g.pair_view(), f32(weights.data(), {5, 2}), f32(d.data(), {10, F}), f32(p.data(), {10, F}), f32(b.data(), {10, G}), f32(dweights.data(), {5, 2})});
    for (size_t i = 0; i < 10; ++i) {
      const auto pair = size_t(g.pairs[i]);
      double dot = 0.0;
      for (size_t f = 0; f < size_t(F); ++f) {
        dot += double(d[pair * size_t(F) + f]) * double(product[pair * size_t(F) + f]);
        EXPECT_EQ(p[pair * size_t(F) + f], product[pair * size_t(F) + f] * weights[i]);
      }
      for (size_t f = 0; f < size_t(G); ++f) EXPECT_EQ(b[pair * size_t(G) + f], beside[pair * size_t(G) + f] * weights[i]);
      EXPECT_NEAR(dweights[i], dot, 1e-5);
    }
  });
}

TEST(shapes_and_counts_that_do_not_fit_are_refused) {
  std::vector<float> scores(12), weights(4);
  std::vector<int32_t> experts(4);
  const auto with = [&](Routing how, int64_t k) {
    route({}, {f32(scores.data(), {1, 12}), {}, i32(experts.data(), {1, k}), f32(weights.data(), {1, k}), how});
  };
  EXPECT_THROWS(with({.groups = 5}, 2), Code::kShape);
  EXPECT_THROWS(with({.groups = 6, .chosen_groups = 1}, 3), Code::kShape);
  EXPECT_THROWS(with({.groups = 2, .chosen_groups = 3}, 2), Code::kShape);
  Stream gpu;
  gpu.backend = Stream::Backend::kCuda;
  // without a device: everything else that a GPU cannot do is refused before anything is computed
  EXPECT_THROWS(route(gpu, {f32(scores.data(), {1, 12}), {}, i32(experts.data(), {1, 2}), f32(weights.data(), {1, 2}), {}, true}), Code::kUnsupported);
  EXPECT_THROWS(route(gpu, {f32(scores.data(), {1, 1025}), {}, i32(experts.data(), {1, 2}), f32(weights.data(), {1, 2}), {}}), Code::kUnsupported);
  EXPECT_THROWS(route(gpu, {f32(scores.data(), {1, 66}), {}, i32(experts.data(), {1, 2}), f32(weights.data(), {1, 2}), {.groups = 33}}), Code::kUnsupported);
}

}  // namespace
}  // namespace kernels_experts_test
