// Ranks that train one model together, against one trainer alone: 2, 3 and 4 of them, after 20 steps. One trainer without
// sharding is the reference of the default mode; the exact mode has the same bits for any number of ranks.
// Mutants: test/mutants/csrc-trainer.json.
#include "trainer/sharded_step.h"

#include <utility>

#include "check.h"
#include "trainer/sharded_course.h"

namespace {

using namespace hone;
using namespace hone::test;

std::vector<Course> train_ranks(int size, const model::ModelConfig& model, const TrainerConfig& config, const StepOptions& o,
                                int sequences) {
  std::vector<Course> courses(static_cast<size_t>(size));
  const auto said = on_ranks(size, [&](dist::Communicator& ranks) {
    courses[size_t(ranks.rank())] = train(model, config, o, sequences, &ranks);
  });
  for (const std::string& text : said) EXPECT_EQ(text, std::string("ok"));
  return courses;
}

double relative(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0.0, size = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += (double(a[i]) - double(b[i])) * (double(a[i]) - double(b[i]));
    size += double(b[i]) * double(b[i]);
  }
  return std::sqrt(difference / size);
}

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// Everything but times.
bool same_report(const StepReport& a, const StepReport& b) {
  return a.loss == b.loss && a.policy_loss == b.policy_loss && a.grad_norm == b.grad_norm && a.grad_scale == b.grad_scale &&
         a.update_norm == b.update_norm && a.weight_norm == b.weight_norm && a.skipped == b.skipped &&
         a.non_finite_sequence == b.non_finite_sequence && a.micro_batches == b.micro_batches &&
         a.trained_tokens == b.trained_tokens && a.packed_tokens == b.packed_tokens && same(a.logprobs, b.logprobs) &&
         same(a.entropies, b.entropies) && same(a.ratios, b.ratios) && same(a.clipped, b.clipped) &&
         same(a.weights, b.weights) && same(a.layer_grad_norms, b.layer_grad_norms);
}

bool same_course(const Course& a, const Course& b) {
  bool all = same(a.weights, b.weights) && a.reports.size() == b.reports.size();
  for (size_t s = 0; all && s < a.reports.size(); ++s) all = same_report(a.reports[s], b.reports[s]);
  return all;
}

void expect_close(double a, double b) { EXPECT_NEAR(a, b, 1e-5 * std::max(1e-3, std::fabs(b))); }

/// The bound of issue and docs: sums of gradients in another order, nothing else.
void expect_near(const Course& a, const Course& b) {
  EXPECT_TRUE(relative(a.weights, b.weights) <= 1e-5);
  for (size_t s = 0; s < a.reports.size(); ++s) {
    const StepReport &x = a.reports[s], &y = b.reports[s];
    for (const auto& [own, wanted] : {std::pair{x.loss, y.loss}, {x.policy_loss, y.policy_loss}, {x.grad_norm, y.grad_norm},
                                      {x.grad_scale, y.grad_scale}, {x.update_norm, y.update_norm}, {x.weight_norm, y.weight_norm}}) {
      expect_close(own, wanted);
    }
    EXPECT_EQ(x.micro_batches, y.micro_batches);
    EXPECT_EQ(x.trained_tokens, y.trained_tokens);
    EXPECT_EQ(x.packed_tokens, y.packed_tokens);
    EXPECT_EQ(x.layer_grad_norms.size(), y.layer_grad_norms.size());
    for (size_t l = 0; l < x.layer_grad_norms.size(); ++l) expect_close(x.layer_grad_norms[l], y.layer_grad_norms[l]);
    EXPECT_TRUE(relative(x.logprobs, y.logprobs) <= 1e-5 && relative(x.entropies, y.entropies) <= 1e-5);
    EXPECT_TRUE(y.ratios.size() == x.ratios.size() && relative(x.ratios, y.ratios) <= 1e-5);
  }
  EXPECT_TRUE(same(a.reports[0].logprobs, b.reports[0].logprobs) && same(a.reports[0].clipped, b.reports[0].clipped));
}

TEST(ranks_equal_one_trainer_within_the_bound_and_repeat_to_the_bit) {
  const model::ModelConfig model = test::switch_configs()[1].second;
  for (const Objective objective : {Objective::kGspo, Objective::kSupervised}) {
    const StepOptions o = options_of(objective);
    const Course alone = train(model, config_of(Sharding::Stage::kNone, false), o, 8, nullptr);
    EXPECT_TRUE(alone.reports[0].micro_batches > 4 && alone.reports[0].grad_scale < 1.0);
    for (const int size : {2, 3, 4}) {
      const auto first = train_ranks(size, model, config_of(Sharding::Stage::kOptimizer, false), o, 8);
      const auto second = train_ranks(size, model, config_of(Sharding::Stage::kOptimizer, false), o, 8);
      expect_near(first[0], alone);
      for (size_t rank = 0; rank < first.size(); ++rank) {
        EXPECT_TRUE(same_course(first[rank], first[0]));
        EXPECT_TRUE(same_course(first[rank], second[rank]));
      }
    }
  }
}

TEST(the_exact_mode_has_the_same_bits_for_any_number_of_ranks) {
  const model::ModelConfig model = test::switch_configs()[0].second;
  for (const Objective objective : {Objective::kGspo, Objective::kSupervised}) {
    for (const DType moments : {DType::kF32, DType::kBF16}) {
      TrainerConfig config = config_of(Sharding::Stage::kOptimizer, true);
      config.optimizer.moments = moments;
      const StepOptions o = options_of(objective);
      const Course solo = train(model, config, o, 7, nullptr);
      for (const int size : {1, 2, 3, 4}) {
        for (const Course& course : train_ranks(size, model, config, o, 7)) EXPECT_TRUE(same_course(course, solo));
      }
      config.sharding = {};
      expect_near(solo, train(model, config, o, 7, nullptr));
    }
  }
}

TEST(muon_updates_whole_matrices_on_every_rank) {
  const model::ModelConfig model = test::switch_configs()[0].second;
  StepOptions o = options_of(Objective::kSupervised);
  o.muon_lr = 1e-3f;
  TrainerConfig config = config_of(Sharding::Stage::kOptimizer, true);
  config.optimizer.kind = trainer::OptimizerConfig::Kind::kMuon;
  const Course solo = train(model, config, o, 7, nullptr);
  for (const int size : {1, 2, 3}) {
    for (const Course& course : train_ranks(size, model, config, o, 7)) EXPECT_TRUE(same_course(course, solo));
  }
  config.sharding = {};
  const Course alone = train(model, config, o, 7, nullptr);
  expect_near(solo, alone);
  config.sharding = {Sharding::Stage::kOptimizer, false};
  for (const Course& course : train_ranks(3, model, config, o, 7)) expect_near(course, alone);
}

TEST(divided_gradients_and_weights_have_the_bits_of_the_exact_mode) {
  for (const size_t which : {0, 1, 3}) {
    const model::ModelConfig model = test::switch_configs()[which].second;
    const StepOptions o = options_of(which ? Objective::kGspo : Objective::kSupervised);
    const Course solo = train(model, config_of(Sharding::Stage::kOptimizer, true), o, 7, nullptr);
    for (const auto stage : {Sharding::Stage::kGradients, Sharding::Stage::kParameters}) {
      TrainerConfig config = config_of(stage, false);
      for (const int size : {1, 2, 3, 4}) {
        config.sharding.exact = config.recompute = size % 2 == 0;
        for (const Course& course : train_ranks(size, model, config, o, 7)) EXPECT_TRUE(same_course(course, solo));
      }
    }
  }
}

TEST(ranks_without_a_micro_batch_change_nothing) {
  const model::ModelConfig model = test::tiny_config();
  const StepOptions o = options_of(Objective::kGspo);
  const Course alone = train(model, config_of(Sharding::Stage::kNone, false, 4096), o, 4, nullptr);
  EXPECT_EQ(alone.reports[0].micro_batches, 1);
  for (const bool exact : {false, true}) {
    for (const Course& course : train_ranks(3, model, config_of(Sharding::Stage::kOptimizer, exact, 4096), o, 4)) {
      expect_near(course, alone);
    }
  }
}

TEST(adapters_are_divided_as_all_weights_are) {
  const model::ModelConfig model = test::tiny_config();
  TrainerConfig config = config_of(Sharding::Stage::kOptimizer, true);
  config.adapters = {.rank = 4, .alpha = 8.0f, .targets = {"all-linear"}, .seed = 3};
  StepOptions o = options_of(Objective::kSupervised);
  o.lr = 1e-2f;
  const Course solo = train(model, config, o, 7, nullptr);
  for (const int size : {2, 3}) {
    for (const Course& course : train_ranks(size, model, config, o, 7)) EXPECT_TRUE(same_course(course, solo));
  }
  config.sharding = {};
  expect_near(solo, train(model, config, o, 7, nullptr));
}

}  // namespace

TEST_MAIN
