// The loss of a policy objective by the formulas of docs/reference/recipe.md in f64, and batches to compare it on; for the
// tests of kernels/policy_loss.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/policy_batch.h"

namespace hone::test {

const Objective kPolicies[] = {Objective::kGspo,    Objective::kGrpo,  Objective::kDapo,
                               Objective::kDrGrpo,  Objective::kPpoClip, Objective::kCispo,
                               Objective::kReinforceClamped, Objective::kReinforce, Objective::kGspoToken,
                               Objective::kGmpo, Objective::kSapo};

/// Indices of the counted tokens of sequence i.
inline std::vector<size_t> counted_tokens(const PolicyBatch& x, int64_t i) {
  std::vector<size_t> out;
  for (size_t t = size_t(x.starts[size_t(i)]); t < size_t(x.starts[size_t(i) + 1]); ++t) {
    if (x.mask[t]) out.push_back(t);
  }
  return out;
}

/// w_t of every token, computed from probabilities instead of their logarithms.
inline std::vector<double> brute_weights(const PolicyBatch& x) {
  const double low = double(x.args.correction_low), high = double(x.args.correction_high);
  const auto inside = [&](double r) { return r >= low && r <= high; };
  std::vector<double> weights(x.logprobs.size(), 0.0);
  for (int64_t i = 0; i < x.sequences(); ++i) {
    const std::vector<size_t> tokens = counted_tokens(x, i);
    double product = 1.0;
    for (size_t t : tokens) product *= std::exp(double(x.proximal[t])) / std::exp(double(x.behavior[t]));
    const double geometric = std::pow(product, 1.0 / double(std::max<size_t>(1, tokens.size())));
    for (size_t t : tokens) {
      const double q = std::exp(double(x.proximal[t])) / std::exp(double(x.behavior[t]));
      switch (x.args.correction) {
        case Correction::kTis: weights[t] = std::min(std::max(q, low), high); break;
        case Correction::kSequenceTis: weights[t] = std::min(std::max(product, low), high); break;
        case Correction::kIcepop: weights[t] = inside(q) ? q : 0.0; break;
        case Correction::kSequenceMask: weights[t] = inside(product) ? product : 0.0; break;
        case Correction::kGeometricMask: weights[t] = inside(geometric) ? q : 0.0; break;
        case Correction::kDppoTv:
        case Correction::kDppoKl: {
          const bool whole = x.args.objective == Objective::kGspo || x.args.objective == Objective::kGmpo;
          const double A = double(whole || x.token_advantages.empty() ? x.advantages[size_t(i)] : x.token_advantages[t]);
          const double mu = std::exp(double(x.behavior[t])), p = std::exp(double(x.logprobs[t]));
          const double gap = x.args.correction == Correction::kDppoTv
                                 ? std::fabs(p - mu)
                                 : mu * std::log(mu / p) + (1 - mu) * std::log((1 - mu) / (1 - p));
          weights[t] = (p - mu) * A > 0 && gap > (A > 0 ? high : low) ? 0.0 : q;
          break;
        }
        case Correction::kNone: weights[t] = 1.0; break;
      }
    }
  }
  return weights;
}

inline double clamp(double x, double low, double high) { return std::min(std::max(x, low), high); }

/// The factor of a token's term, from the table in docs/reference/recipe.md.
inline double brute_scale(const PolicyBatch& x, size_t i, double n) {
  const StepNormalizer& s = x.args.step;
  switch (x.args.objective) {
    case Objective::kGspo:
    case Objective::kGspoToken:
    case Objective::kGmpo:
    case Objective::kSapo: return (x.args.sequence_weight == SequenceWeight::kLength ? 1.0 : 1.0 / n) / double(s.sequences);
    case Objective::kGrpo: return 1.0 / double(s.groups) / double(x.group_sizes[i]) / n;
    case Objective::kDapo:
    case Objective::kCispo: return 1.0 / double(s.counted_tokens);
    case Objective::kDrGrpo: return 1.0 / double(s.sequences) / s.dr_grpo;
    default: return 1.0 / double(s.sequences);
  }
}

/// The loss for new log-probs `now`; whatever the formulas treat as constant is computed from x.logprobs.
inline double brute_loss(const PolicyBatch& x, const std::vector<double>& weights, const std::vector<double>& now) {
  const double low = 1.0 - double(x.args.clip_low), high = 1.0 + double(x.args.clip_high);
  double loss = 0.0;
  for (int64_t i = 0; i < x.sequences(); ++i) {
    const std::vector<size_t> tokens = counted_tokens(x, i);
    const Objective kind = x.args.objective;
    const bool geometric = kind == Objective::kGmpo, whole = kind == Objective::kGspo || geometric;
    const auto bounded = [&](double gap) { return geometric && gap * double(x.advantages[size_t(i)]) > 0 && (gap > high - 1.0 || gap < low - 1.0); };
    double mean = 0.0;
    for (size_t t : tokens) {
      const double gap = double(x.logprobs[t]) - double(x.proximal[t]);
      mean += (bounded(gap) ? clamp(gap, low - 1.0, high - 1.0) : gap) / double(tokens.size());
    }
    for (size_t t : tokens) {
      const bool per_token = !whole && !x.token_advantages.empty();
      const double A = double(per_token ? x.token_advantages[t] : x.advantages[size_t(i)]);
      const double moved = now[t] - double(x.logprobs[t]), held = std::exp(double(x.logprobs[t]) - double(x.proximal[t]));
      const bool shared = whole || kind == Objective::kGspoToken;
      const double ratio = shared ? std::exp(mean + (bounded(std::log(held)) ? 0.0 : moved)) : held * std::exp(moved);
      double gain = std::min(ratio * A, clamp(ratio, low, high) * A);
      if (A < 0) gain = std::max(gain, double(x.args.dual_clip) * A);
      if (x.args.objective == Objective::kCispo) gain = clamp(held, low, high) * A * now[t];
      if (x.args.objective == Objective::kReinforceClamped) gain = clamp(held, 0.0, high) * A * now[t];
      if (x.args.objective == Objective::kReinforce) gain = A * now[t];
      if (geometric) gain = ratio * A;
      const double tau = double(A > 0 ? x.args.gate_positive : x.args.gate_negative);
      if (kind == Objective::kSapo) gain = 4 / tau / (1 + std::exp(-tau * (ratio - 1))) * A;
      loss -= brute_scale(x, size_t(i), double(tokens.size())) * weights[t] * gain;
    }
  }
  return loss;
}

/// A batch whose behavior log-probs differ by some 0.3 nats from the trainer's; the bounds affect some tokens
/// and sequences.
inline PolicyBatch corrected_batch(Objective objective, Correction kind, bool at_the_start) {
  PolicyBatch batch = random_batch(objective);
  batch.proximal = batch.logprobs;
  if (!at_the_start) {
    for (float& x : batch.proximal) x += random_floats(1, 0.05f)[0];
  }
  batch.args.correction = kind;
  batch.args.correction_low = kind == Correction::kGeometricMask ? 0.98f : 0.8f;
  batch.args.correction_high = kind == Correction::kGeometricMask ? 1.1f : 1.2f;
  if (kind != Correction::kDppoTv && kind != Correction::kDppoKl) return batch;
  for (auto* of : {&batch.logprobs, &batch.behavior, &batch.proximal}) {  // makes probabilities below 1
    for (float& x : *of) x -= 3.0f;
  }
  batch.args.correction_low = kind == Correction::kDppoTv ? 0.004f : 2e-4f;
  batch.args.correction_high = kind == Correction::kDppoTv ? 0.003f : 4e-4f;
  return batch;
}

}  // namespace hone::test
