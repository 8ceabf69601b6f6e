// The objectives of a training step in f64, using the reference decoder: the reference for the trainer tests.
#pragma once

#include <random>
#include <vector>

#include "model/reference.h"
#include "trainer/trainer.h"

namespace hone::test {

/// Owns the arrays of a TrainingBatch.
struct Batch {
  std::vector<int32_t> tokens, cu_seqlens{0}, group_sizes;
  std::vector<uint8_t> mask, routes;  // routes: [T, route_bytes], or empty
  std::vector<float> behavior, reference, proximal, advantages, token_advantages;
  int64_t groups = 1;

  void add(const std::vector<int32_t>& ids, int64_t prompt, float advantage, int32_t group = 1) {
    for (size_t t = 0; t < ids.size(); ++t) {
      tokens.push_back(ids[t]);
      mask.push_back(int64_t(t) >= prompt);
    }
    cu_seqlens.push_back(int32_t(tokens.size()));
    advantages.push_back(advantage);
    group_sizes.push_back(group);
  }
  int64_t size() const { return int64_t(advantages.size()); }
  int64_t counted() const {
    int64_t n = 0;
    for (uint8_t m : mask) n += m;
    return n;
  }
  std::vector<int32_t> sequence(int64_t i) const {
    return {tokens.begin() + cu_seqlens[size_t(i)], tokens.begin() + cu_seqlens[size_t(i + 1)]};
  }
  trainer::TrainingBatch view() const {
    trainer::TrainingBatch b;
    b.tokens = tokens.data();
    b.cu_seqlens = cu_seqlens.data();
    b.mask = mask.data();
    b.behavior_logprobs = behavior.empty() ? nullptr : behavior.data();
    b.reference_logprobs = reference.empty() ? nullptr : reference.data();
    b.proximal_logprobs = proximal.empty() ? nullptr : proximal.data();
    b.advantages = advantages.data();
    b.token_advantages = token_advantages.empty() ? nullptr : token_advantages.data();
    b.group_sizes = group_sizes.data();
    if (!routes.empty()) b.routes = routes.data(), b.route_bytes = int64_t(routes.size() / tokens.size());
    b.sequences = size();
    b.step = {size(), groups, counted(), 16.0};
    return b;
  }
};

/// Sets behavior log-probs near the model's own. Sequences 0 and 1 are inside every clip range; 2 and 3 are
/// outside gspo's range in the direction that is clipped, and have tokens on both sides of grpo's. No ratio
/// is near a bound, where f32 and f64 could differ and a central difference would be no derivative.
inline void add_logprobs(Batch& batch, const Reference& model, double temperature) {
  constexpr double kSequence[] = {0.01, -0.01, -0.07, 0.05}, kToken[] = {0.2, -0.2};
  std::normal_distribution<double> normal(0.0, 0.3);
  for (int64_t i = 0; i < batch.size(); ++i) {
    const auto logprobs = model.predict(batch.sequence(i), temperature).logprob;
    const size_t first = size_t(batch.cu_seqlens[size_t(i)]), n = logprobs.size();
    size_t counted = 0, seen = 0;
    for (size_t t = 0; t < n; ++t) counted += batch.mask[first + t];
    for (size_t t = 0; t < n; ++t) {
      const bool paired = batch.mask[first + t] && (seen | 1) < counted;  // an odd last token keeps the mean
      const double log_ratio = kSequence[i % 4] + (paired ? kToken[seen % 2] : 0.0);
      seen += batch.mask[first + t];
      batch.behavior.push_back(float(logprobs[t] - log_ratio));
      batch.reference.push_back(float(logprobs[t] + normal(random())));
    }
  }
}

/// The loss of a whole step, for gspo, grpo and supervised, by the formulas of the golden data.
inline double reference_loss(const Reference& model, const Batch& batch, const trainer::StepOptions& o) {
  using kernels::Objective;
  double loss = 0.0;
  const double N = double(batch.size());
  for (int64_t i = 0; i < batch.size(); ++i) {
    const auto p = model.predict(batch.sequence(i), double(o.temperature));
    const size_t first = size_t(batch.cu_seqlens[size_t(i)]), length = p.logprob.size();
    double n = 0, log_ratio = 0, grpo = 0, supervised = 0, regular = 0;
    const double A = double(batch.advantages[size_t(i)]), low = 1.0 - double(o.clip_low), high = 1.0 + double(o.clip_high);
    const auto clipped = [&](double x) { return std::min(x * A, std::clamp(x, low, high) * A); };
    for (size_t t = 0; t < length; ++t) {
      if (!batch.mask[first + t]) continue;
      n += 1;
      supervised += p.logprob[t];
      if (!batch.behavior.empty()) {
        const double d = p.logprob[t] - double(batch.behavior[first + t]);
        log_ratio += d;
        grpo += clipped(std::exp(d));
      }
      if (!batch.reference.empty()) {
        const double d = double(batch.reference[first + t]) - p.logprob[t];
        regular += double(o.kl_coef) * (std::exp(d) - d - 1.0);
      }
      regular -= double(o.entropy_coef) * p.entropy[t];
    }
    if (n == 0) continue;
    const bool by_length = o.sequence_weight == kernels::SequenceWeight::kLength;
    loss += regular * (by_length ? 1.0 / N : 1.0 / (N * n));
    if (o.objective == Objective::kGspo) loss -= (by_length ? n : 1.0) / N * clipped(std::exp(log_ratio / n));
    if (o.objective == Objective::kGrpo) loss -= grpo / (double(batch.groups) * double(batch.group_sizes[size_t(i)]) * n);
    if (o.objective == Objective::kSupervised) loss -= supervised / double(batch.counted());
  }
  return loss;
}

}  // namespace hone::test
