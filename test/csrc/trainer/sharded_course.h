// Twenty steps of a trainer, alone or as one of several ranks.
#pragma once

#include <random>
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

/// Sequences of 5 to 24 tokens, the same for a seed.
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
  config.optimizer.gradient_clip = 0.05f;  // below every norm here: the factor that clips matters
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

/// Steps on batches of the model's own making: behaviour is what the trainer scores before each.
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

}  // namespace hone::test
