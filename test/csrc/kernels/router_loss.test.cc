// Auxiliary losses of routers compared with their formula in f64, and their gradient with differences of it.
//
// Faults put into the code, each detected: counts that have a gradient; a sequence's rows taken for the
// batch's; the sigmoid's own slope left out.
#include "kernels/router_loss.h"

#include <cmath>

#include "each_isa.h"

namespace kernels_router_loss_test {
namespace {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

constexpr int64_t kExperts = 5, kChosen = 2;

struct Case {
  std::vector<int32_t> starts{0, 4, 4, 11, 12};  // one sequence has no rows
  std::vector<float> logits = random_floats(12 * kExperts, 2.0f);
  std::vector<int32_t> experts;
  double balance_coef, z_coef;
  bool sigmoid;

  Case(double balance, double z, bool sigmoids) : balance_coef(balance), z_coef(z), sigmoid(sigmoids) {
    for (int64_t r = 0; r < 12; ++r) experts.insert(experts.end(), {int32_t(r % 3), int32_t(3 + r % 2)});
  }
  std::vector<double> run(const Stream& stream, std::vector<float>& dlogits) {
    std::vector<double> losses(4, 0.5);
    router_loss(stream, {.logits = f32(logits.data(), {12, kExperts}), .experts = i32(experts.data(), {12, kChosen}), .starts = i32(starts.data(), {5}),
                         .dlogits = f32(dlogits.data(), {12, kExperts}), .balance_coef = balance_coef, .z_coef = z_coef, .sigmoid = sigmoid, .losses = losses.data()});
    return losses;
  }
  double loss(size_t s, const std::vector<double>& z) const {
    const double n = double(starts[s + 1] - starts[s]);
    std::vector<double> count(size_t(kExperts), 0.0), mean(size_t(kExperts), 0.0);
    double squares = 0.0;
    for (int32_t r = starts[s]; r < starts[s + 1]; ++r) {
      for (int64_t j = 0; j < kChosen; ++j) count[size_t(experts[size_t(r * kChosen + j)])] += 1.0;
      double powers = 0.0, sum = 0.0;
      const auto score = [&](int64_t e) {
        const double x = z[size_t(r * kExperts + e)];
        return sigmoid ? 1.0 / (1.0 + std::exp(-x)) : std::exp(x);
      };
      for (int64_t e = 0; e < kExperts; ++e) powers += std::exp(z[size_t(r * kExperts + e)]), sum += score(e);
      for (int64_t e = 0; e < kExperts; ++e) mean[size_t(e)] += score(e) / sum / n;
      squares += std::log(powers) * std::log(powers) / n;
    }
    double balance = 0.0;
    for (size_t e = 0; e < count.size() && n > 0; ++e) balance += double(kExperts) * count[e] / n * mean[e];
    return balance_coef * balance + z_coef * squares;
  }
};

TEST(terms_and_gradients_are_those_of_the_formula) {
  for (const bool sigmoid : {false, true}) {
    for (const auto& [balance, z] : {std::pair{0.7, 0.0}, {0.0, 0.3}, {0.7, 0.3}}) {
      Case c(balance, z, sigmoid);
      const std::vector<float> before = random_floats(12 * kExperts);
      std::vector<float> dlogits = before, alone = before;
      const std::vector<double> losses = c.run(two_threads(), dlogits);
      EXPECT_TRUE(losses == c.run({}, alone));
      EXPECT_TRUE(same_bits(dlogits.data(), alone.data(), int64_t(alone.size())));
      const std::vector<double> at(c.logits.begin(), c.logits.end());
      for (size_t s = 0; s < 4; ++s) {
        EXPECT_NEAR(losses[s], 0.5 + c.loss(s, at), 1e-12);
        for (int64_t i = c.starts[s] * kExperts; i < c.starts[s + 1] * kExperts; ++i) {
          std::vector<double> up = at, down = at;
          up[size_t(i)] += 1e-5, down[size_t(i)] -= 1e-5;
          EXPECT_NEAR(double(dlogits[size_t(i)]) - double(before[size_t(i)]), (c.loss(s, up) - c.loss(s, down)) / 2e-5, 1e-6);
        }
      }
    }
  }
}

TEST(rows_alike_for_all_experts_have_the_least_balance_and_large_logits_a_finite_term) {
  Case c(1.0, 1.0, false);
  std::fill(c.logits.begin(), c.logits.end(), 1000.0f);
  std::vector<float> dlogits(c.logits.size(), 0.0f);
  const std::vector<double> losses = c.run({}, dlogits);
  const double log_sum = 1000.0 + std::log(double(kExperts));
  for (const size_t s : {size_t(0), size_t(2), size_t(3)}) EXPECT_NEAR(losses[s], 0.5 + double(kChosen) + log_sum * log_sum, 1e-6);
  EXPECT_EQ(losses[1], 0.5);
}

TEST(sequences_that_are_not_all_of_the_rows_are_refused) {
  Case c(1.0, 0.0, false);
  std::vector<float> dlogits(c.logits.size(), 0.0f);
  c.starts.back() = 11;
  EXPECT_THROWS(c.run({}, dlogits), Code::kShape);
}

}  // namespace
}  // namespace kernels_router_loss_test
