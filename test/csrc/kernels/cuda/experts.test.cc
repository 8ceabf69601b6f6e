// Mixtures of experts on a device, compared with the CPU ops on the same values. Sizes are odd, some experts get no
// rows, and one may get all of them.
//
// Faults put into the code, each detected: places of other pairs; the higher index of equal scores; a gradient without the
// softmax's mean; pairs of weight 1 in a bias's gradient; a weight's gradient without the bias; columns of B by rank first.
#include "kernels/experts.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "each_way.h"
#include "expert_groups.h"
#include "kernels/router_loss.h"

namespace kernels_cuda_experts_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

TEST_SETUP { say_hopper(); }

namespace {

struct Case {
  int64_t rows, experts, k;
  Routing how;
  bool correction = false;
};

std::vector<Case> cases() {
  return {{5, 6, 2, {}}, {3, 128, 8, {.normalized = true}}, {40, 17, 1, {.normalized = true, .scaling = 0.5f}}, {4, 5, 5, {.sigmoid = true}},
          {7, 24, 4, {.sigmoid = true, .normalized = true, .scaling = 2.5f, .groups = 6, .chosen_groups = 3}, true},
          {6, 256, 8, {.sigmoid = true, .normalized = true, .groups = 8, .chosen_groups = 4}, true},
          {9, 64, 3, {.normalized = true, .groups = 32, .chosen_groups = 32}}, {2, 1024, 10, {}}, {11, 33, 33, {.normalized = true}}};
}

/// Logits of a case and what route makes of them, on the CPU or on the device.
struct Routed {
  std::vector<float> scores, weights;
  std::vector<int32_t> experts;
};

Routed route_on_cpu(const Case& c, std::vector<float> logits, std::vector<float> correction) {
  Routed out{std::move(logits), poison(c.rows * c.k), std::vector<int32_t>(size_t(c.rows * c.k), -1)};
  route({}, {f32(out.scores.data(), {c.rows, c.experts}), c.correction ? f32(correction.data(), {c.experts}) : TensorView{},
             i32(out.experts.data(), {c.rows, c.k}), f32(out.weights.data(), {c.rows, c.k}), c.how});
  return out;
}

Routed route_on_device(const Case& c, const std::vector<float>& logits, const std::vector<float>& correction) {
  const DeviceArray<float> scores(logits), added(correction), weights(c.rows * c.k);
  const DeviceArray<int32_t> experts(c.rows * c.k);
  route(device_stream(), {scores.view(DType::kF32, {c.rows, c.experts}), c.correction ? added.view(DType::kF32, {c.experts}) : TensorView{},
                          experts.view(DType::kI32, {c.rows, c.k}), weights.view(DType::kF32, {c.rows, c.k}), c.how});
  return {scores.download(), weights.download(), experts.download()};
}

}  // namespace

TEST(experts_are_chosen_and_weighed_as_on_the_cpu) {
  NEEDS_DEVICE;
  for (const Case& c : cases()) {
    const std::vector<float> logits = random_floats(c.rows * c.experts, 2.0f), correction = random_floats(c.experts, 0.5f);
    const Routed cpu = route_on_cpu(c, logits, correction), gpu = route_on_device(c, logits, correction);
    EXPECT_TRUE(cpu.experts == gpu.experts);
    expect_near(gpu.scores, cpu.scores, 1e-6, "score");
    expect_near(gpu.weights, cpu.weights, 2e-6, "weight");
    for (int64_t r = c.rows - 1; r < c.rows; ++r) {  // a row has its bits alone
      const Case alone{1, c.experts, c.k, c.how, c.correction};
      const Routed one = route_on_device(alone, {logits.begin() + r * c.experts, logits.begin() + (r + 1) * c.experts}, correction);
      EXPECT_TRUE(same_bits(one.scores.data(), gpu.scores.data() + r * c.experts, c.experts));
      EXPECT_TRUE(same_bits(one.weights.data(), gpu.weights.data() + r * c.k, c.k));
    }
  }
}

TEST(of_equal_scores_the_lower_index_is_chosen_and_not_a_number_is_routed_somewhere) {
  NEEDS_DEVICE;
  const Case c{3, 70, 3, {.normalized = true}};
  std::vector<float> logits(size_t(3 * 70), 1.0f);
  for (const size_t e : {69u, 33u, 40u, 65u}) logits[70 + e] = 2.0f;
  std::fill(logits.begin() + 140, logits.end(), std::nanf(""));
  const Routed got = route_on_device(c, logits, {});
  EXPECT_TRUE(got.experts == (std::vector<int32_t>{0, 1, 2, 33, 40, 65, 0, 1, 2}));
  EXPECT_TRUE(std::isnan(got.weights[6]));
}

TEST(gradients_of_routes_are_the_cpus) {
  NEEDS_DEVICE;
  for (const Case& c : cases()) {
    const Routed cpu = route_on_cpu(c, random_floats(c.rows * c.experts, 2.0f), random_floats(c.experts, 0.5f));
    const std::vector<float> dweights = random_floats(c.rows * c.k);
    std::vector<float> wanted = cpu.scores;
    route_grad({}, {f32(wanted.data(), {c.rows, c.experts}), i32(cpu.experts.data(), {c.rows, c.k}), f32(dweights.data(), {c.rows, c.k}),
                    f32(wanted.data(), {c.rows, c.experts}), c.how});
    const DeviceArray<float> scores(cpu.scores), d(dweights);
    const DeviceArray<int32_t> experts(cpu.experts);
    route_grad(device_stream(), {scores.view(DType::kF32, {c.rows, c.experts}), experts.view(DType::kI32, {c.rows, c.k}), d.view(DType::kF32, {c.rows, c.k}),
                                 scores.view(DType::kF32, {c.rows, c.experts}), c.how});
    expect_near(scores.download(), wanted, 1e-6, "dlogits");
  }
}

namespace {

/// rows, experts, k, experts that get rows
constexpr int64_t kGroups[][4] = {{1, 4, 2, 4}, {13, 7, 3, 5}, {60, 3, 1, 1}, {300, 40, 4, 37}, {0, 5, 2, 5}, {21, 70, 5, 6}};

}  // namespace

TEST(pairs_are_sorted_and_counted_as_on_the_cpu) {
  NEEDS_DEVICE;
  for (const auto& [rows, experts, k, used] : kGroups) {
    const Grouped g(rows, experts, k, used);
    EXPECT_TRUE(g.device_begins.download() == g.begins && g.device_rows.download() == g.row_of && g.device_pairs.download() == g.pairs);
    std::vector<double> wanted(size_t(experts), 0.5);
    const DeviceArray<double> counts(wanted);
    count_rows({}, {g.host_begins(), {wanted.data(), DType::kF64, {experts}}});
    count_rows(device_stream(), {g.begin_view(), counts.view(DType::kF64, {experts})});
    EXPECT_TRUE(counts.download() == wanted);
  }
}

TEST(rows_are_combined_and_pairs_weighed_as_on_the_cpu) {
  NEEDS_DEVICE;
  for (const auto& [rows, experts, k, used] : kGroups) {
    const Grouped g(rows, experts, k, used);
    const int64_t P = rows * k, C = 41, F = 19, G = 48;
    const std::vector<float> from = rounded_to_bf16(random_floats(P * C)), weights = random_floats(P), start = rounded_to_bf16(random_floats(rows * C));
    const DeviceArray<float> w(weights);
    for (const bool weighed : {true, false}) {
      std::vector<float> to = start;
      combine_rows({}, {f32(from.data(), {P, C}), g.host_pairs(), weighed ? f32(weights.data(), {rows, k}) : TensorView{}, f32(to.data(), {rows, C})});
      const DeviceArray<uint16_t> in(to_bf16(from)), out(to_bf16(start));
      combine_rows(device_stream(), {in.view(DType::kBF16, {P, C}), g.pair_view(), weighed ? w.view(DType::kF32, {rows, k}) : TensorView{}, out.view(DType::kBF16, {rows, C})});
      expect_rounded(out.download(), to, 0.0, "combined");  // the same order of the same roundings
    }
    const std::vector<float> d = rounded_to_bf16(random_floats(P * F)), product = rounded_to_bf16(random_floats(P * F)), beside = rounded_to_bf16(random_floats(P * G));
    std::vector<float> p = product, b = beside, dweights = poison(P);
    weigh_pairs({}, {g.host_pairs(), f32(weights.data(), {rows, k}), f32(d.data(), {P, F}), f32(p.data(), {P, F}), f32(b.data(), {P, G}), f32(dweights.data(), {rows, k})});
    const DeviceArray<uint16_t> dd(to_bf16(d)), dp(to_bf16(product)), db(to_bf16(beside));
    const DeviceArray<float> dw(P);
    weigh_pairs(device_stream(), {g.pair_view(), w.view(DType::kF32, {rows, k}), dd.view(DType::kBF16, {P, F}), dp.view(DType::kBF16, {P, F}), db.view(DType::kBF16, {P, G}), dw.view(DType::kF32, {rows, k})});
    expect_rounded(dp.download(), p, 0.0, "product"), expect_rounded(db.download(), b, 0.0, "beside");
    expect_near(dw.download(), dweights, 2e-6, "dweights");

    // a bias of the outputs has its share of the weights' gradient
    const std::vector<float> bias = random_floats(experts * C), outputs = rounded_to_bf16(random_floats(P * C));
    std::vector<float> biased = poison(P), again = product, other = beside;
    weigh_pairs({}, {g.host_pairs(), f32(weights.data(), {rows, k}), f32(d.data(), {P, F}), f32(again.data(), {P, F}), f32(other.data(), {P, G}), f32(biased.data(), {rows, k}),
                     i32(g.chosen.data(), {rows, k}), f32(bias.data(), {experts, C}), f32(outputs.data(), {P, C})});
    const DeviceArray<float> of_outputs(bias);
    const DeviceArray<uint16_t> douts(to_bf16(outputs)), product_again(to_bf16(product));
    weigh_pairs(device_stream(), {g.pair_view(), w.view(DType::kF32, {rows, k}), dd.view(DType::kBF16, {P, F}), product_again.view(DType::kBF16, {P, F}), db.view(DType::kBF16, {P, G}),
                                  dw.view(DType::kF32, {rows, k}), g.device_chosen.view(DType::kI32, {rows, k}), of_outputs.view(DType::kF32, {experts, C}), douts.view(DType::kBF16, {P, C})});
    expect_near(dw.download(), biased, 4e-6, "dweights with a bias");
  }
}

TEST(gradients_of_biases_are_sums_over_an_experts_rows_of_a_block) {
  NEEDS_DEVICE;
  for (const auto& [rows, experts, k, used] : kGroups) {
    const Grouped g(rows, experts, k, used);
    for (const int64_t N : {41, 264}) {
      const int64_t P = rows * k;
      const std::vector<float> dy = rounded_to_bf16(random_floats(P * N)), weights = random_floats(P), before = random_floats(experts * N);
      const DeviceArray<uint16_t> ady(to_bf16(dy));
      const DeviceArray<float> w(weights);
      for (const auto& [first, last] : {std::pair<int64_t, int64_t>{0, rows}, {std::min<int64_t>(5, rows), std::min<int64_t>(11, rows)}}) {
        for (const bool weighed : {true, false}) {
          std::vector<float> wanted = before;
          experts_grad_bias({}, {.dy = f32(dy.data(), {P, N}), .experts = i32(g.chosen.data(), {rows, k}), .begins = g.host_begins(), .rows = g.host_rows(), .pairs = g.host_pairs(),
                                 .weights = weighed ? f32(weights.data(), {rows, k}) : TensorView{}, .dbias = f32(wanted.data(), {experts, N}), .first_row = first, .last_row = last});
          const DeviceArray<float> dbias(before);
          experts_grad_bias(device_stream(), {.dy = ady.view(DType::kBF16, {P, N}), .experts = g.device_chosen.view(DType::kI32, {rows, k}), .begins = g.begin_view(), .rows = g.row_view(),
                                              .pairs = g.pair_view(), .weights = weighed ? w.view(DType::kF32, {rows, k}) : TensorView{}, .dbias = dbias.view(DType::kF32, {experts, N}),
                                              .first_row = first, .last_row = last});
          expect_near(dbias.download(), wanted, 2e-5, "dbias");
        }
      }
    }
  }
}

TEST(auxiliary_losses_and_their_gradients_are_the_cpus) {
  NEEDS_DEVICE;
  constexpr int64_t E = 37, k = 2;
  std::vector<int32_t> starts{0, 4, 4, 51, 52}, chosen;
  for (int32_t r = 0; r < 52; ++r) chosen.insert(chosen.end(), {r % 11, 11 + r % 7});
  for (const bool sigmoid : {false, true}) {
    for (const auto& [balance, z] : {std::pair{0.7, 0.0}, {0.0, 0.3}, {0.7, 0.3}}) {
      const std::vector<float> logits = random_floats(52 * E, 3.0f), before = random_floats(52 * E);
      std::vector<float> wanted = before;
      std::vector<double> losses(4, 0.5);
      router_loss({}, {.logits = f32(logits.data(), {52, E}), .experts = i32(chosen.data(), {52, k}), .starts = i32(starts.data(), {5}), .dlogits = f32(wanted.data(), {52, E}),
                       .balance_coef = balance, .z_coef = z, .sigmoid = sigmoid, .losses = losses.data()});
      const DeviceArray<float> in(logits), out(before);
      const DeviceArray<int32_t> experts(chosen), begins(starts);
      const DeviceArray<double> sums(std::vector<double>(4, 0.5));
      router_loss(device_stream(), {.logits = in.view(DType::kF32, {52, E}), .experts = experts.view(DType::kI32, {52, k}), .starts = begins.view(DType::kI32, {5}),
                                    .dlogits = out.view(DType::kF32, {52, E}), .balance_coef = balance, .z_coef = z, .sigmoid = sigmoid, .losses = sums.data()});
      expect_near(out.download(), wanted, 1e-6, "dlogits");
      const std::vector<double> got = sums.download();
      for (size_t s = 0; s < 4; ++s) EXPECT_NEAR(got[s], losses[s], 1e-6 * (1.0 + losses[s]));
    }
  }
}

TEST(columns_of_experts_are_turned_round_and_added_back) {
  NEEDS_DEVICE;
  for (const auto& [N, experts, rank] : {std::array<int64_t, 3>{1, 1, 8}, {37, 5, 8}, {70, 3, 24}, {64, 4, 16}}) {
    const int64_t all = experts * rank, stride = all + 3;
    const std::vector<float> columns = random_floats(N * stride), added = random_floats(all * N);
    const DeviceArray<float> from(columns), rows(added);
    const DeviceArray<uint16_t> turned(all * N);
    const TensorView view = with_stride(from.view(DType::kF32, {N, all}), stride);
    turn_expert_columns(device_stream(), {view, turned.view(DType::kBF16, {all, N}), experts});
    const std::vector<uint16_t> got = turned.download();
    add_expert_columns(device_stream(), {view, rows.view(DType::kF32, {all, N}), experts});
    const std::vector<float> sums = from.download();
    for (int64_t n = 0; n < N; ++n) {
      for (int64_t c = 0; c < stride; ++c) {
        const float was = columns[size_t(n * stride + c)];
        if (c >= all) {
          EXPECT_EQ(sums[size_t(n * stride + c)], was);
          continue;
        }
        const size_t at = size_t((c % experts * rank + c / experts) * N + n);
        EXPECT_EQ(got[at], f32_to_bf16(was));
        EXPECT_EQ(sums[size_t(n * stride + c)], was + added[at]);
      }
    }
  }
}

TEST(what_only_the_cpu_has_is_refused) {
  NEEDS_DEVICE;
  const DeviceArray<float> memory(64);
  const DeviceArray<int32_t> counts(8);
  const TensorView k = counts.view(DType::kI32, {2, 2}), weights = memory.view(DType::kF32, {2, 2});
  EXPECT_THROWS(route(device_stream(), {memory.view(DType::kF32, {2, 4}), {}, k, weights, {}, true}), Code::kUnsupported);
}

}  // namespace kernels_cuda_experts_test
