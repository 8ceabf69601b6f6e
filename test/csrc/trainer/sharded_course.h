// Twenty training steps of a trainer, alone or as one of several ranks.
#pragma once

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "check.h"
#include "trainer/on_ranks.h"
#include "trainer/reference_loss.h"

namespace hone::test {

using kernels::Objective;
using trainer::Sharding;
using trainer::StepOptions;
using trainer::StepReport;
using trainer::Trainer;
using trainer::TrainerConfig;

inline constexpr int kSteps = 20;

/// Random sequences of 5 to 24 tokens, the same for the same seed.
inline Batch drawn_batch(const model::ModelConfig& config, int sequences, uint64_t seed) {
  std::mt19937_64 random(seed);
  Batch batch;
  batch.groups = 2;
  for (int i = 0; i < sequences; ++i) {
    std::vector<int32_t> ids(5 + random() % 20);
    for (int32_t& id : ids) id = int32_t(random() % uint64_t(config.vocabulary));
    batch.add(ids, 2, i % 2 ? 0.8f : -1.1f, int32_t(sequences / 2));
  }
  return batch;
}

inline TrainerConfig config_of(Sharding::Stage stage, bool exact, int64_t packed_tokens = 24) {
  TrainerConfig config;
  config.packed_tokens = packed_tokens;
  // smaller than every gradient norm here, so that clipping has an effect
  config.optimizer.gradient_clip = 0.05f;
  config.optimizer.weight_decay = 0.01f;
  config.sharding = {stage, exact};
  return config;
}

inline StepOptions options_of(Objective objective) {
  StepOptions o;
  o.objective = objective;
  o.lr = 1e-3f;
  if (objective == Objective::kSupervised) return o;
  o.clip_low = o.clip_high = 0.2f;
  o.entropy_coef = 0.01f;
  return o;
}

struct Course {
  std::vector<float> weights;
  std::vector<StepReport> reports;
};

/// Trains on random batches, whose behavior log-probs the trainer itself scores before each step.
inline Course train(const model::ModelConfig& model, const TrainerConfig& config, const StepOptions& o, int sequences,
             dist::Communicator* ranks) {
  Trainer trainer(model, config, nullptr, ranks);
  test::roughen(trainer.parameters(), 11);
  trainer.parameters_changed();
  Course course;
  for (int s = 0; s < kSteps; ++s) {
    Batch batch = drawn_batch(model, sequences, uint64_t(100 + s));
    if (o.objective != Objective::kSupervised) {
      std::vector<float> entropies(batch.tokens.size());
      batch.behavior.resize(batch.tokens.size());
      trainer.score(batch.view(), 1.0f, batch.behavior.data(), entropies.data());
    }
    course.reports.push_back(trainer.step(batch.view(), o));
  }
  EXPECT_EQ(trainer.version(), uint32_t(kSteps));
  const TensorView flat = trainer.trained().flat();
  course.weights.assign(flat.as<float>(), flat.as<float>() + flat.numel());
  return course;
}

inline std::vector<Course> train_ranks(int size, const model::ModelConfig& model, const TrainerConfig& config, const StepOptions& o,
                                int sequences) {
  std::vector<Course> courses(static_cast<size_t>(size));
  const auto said = on_ranks(size, [&](dist::Communicator& ranks) {
    courses[size_t(ranks.rank())] = train(model, config, o, sequences, &ranks);
  });
  for (const std::string& text : said) EXPECT_EQ(text, std::string("ok"));
  return courses;
}

inline double relative(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0.0, size = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += (double(a[i]) - double(b[i])) * (double(a[i]) - double(b[i]));
    size += double(b[i]) * double(b[i]);
  }
  return std::sqrt(difference / size);
}

template <class T>
inline bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// Whether two reports are equal in everything but times.
inline bool same_report(const StepReport& a, const StepReport& b) {
  return a.loss == b.loss && a.policy_loss == b.policy_loss && a.grad_norm == b.grad_norm && a.grad_scale == b.grad_scale &&
         a.update_norm == b.update_norm && a.weight_norm == b.weight_norm && a.skipped == b.skipped &&
         a.non_finite_sequence == b.non_finite_sequence && a.micro_batches == b.micro_batches &&
         a.trained_tokens == b.trained_tokens && a.packed_tokens == b.packed_tokens && same(a.logprobs, b.logprobs) &&
         same(a.entropies, b.entropies) && same(a.ratios, b.ratios) && same(a.clipped, b.clipped) &&
         same(a.weights, b.weights) && same(a.divergences, b.divergences) && same(a.layer_grad_norms, b.layer_grad_norms);
}

inline bool same_course(const Course& a, const Course& b) {
  bool all = same(a.weights, b.weights) && a.reports.size() == b.reports.size();
  for (size_t s = 0; all && s < a.reports.size(); ++s) all = same_report(a.reports[s], b.reports[s]);
  return all;
}

inline void expect_close(double a, double b) { EXPECT_NEAR(a, b, 1e-5 * std::max(1e-3, std::fabs(b))); }

/// Expects the weights to agree within the documented bound; only the order of gradient sums may differ.
inline void expect_near(const Course& a, const Course& b) {
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

}  // namespace hone::test
