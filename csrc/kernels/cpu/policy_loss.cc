#include "kernels/cpu/policy_loss.h"

#include <cmath>

namespace hone::kernels::cpu {
namespace {

/// One objective term to be minimised, before its weight: value, slope in new_t, and whether it was clipped.
struct Term {
  double value = 0, slope = 0;
  bool clipped = false;
};

/// NaN stays NaN, which std::clamp does not promise.
double clip(double x, double low, double high) { return x > high ? high : x < low ? low : x; }

/// -min(x A, clip(x) A); dx is the slope of x in new_t.
Term clipped_minimum(double x, double dx, double advantage, double low, double high) {
  Term term;
  term.clipped = (advantage > 0 && x > high) || (advantage < 0 && x < low);
  term.value = -(term.clipped ? clip(x, low, high) : x) * advantage;
  term.slope = term.clipped ? 0.0 : -dx * advantage;
  return term;
}

Term token_term(const PolicyLossArgs& a, double ratio, double advantage, double logprob) {
  const double low = 1.0 - double(a.clip_low), high = 1.0 + double(a.clip_high);
  switch (a.objective) {
    case Objective::kCispo: {
      const double weight = clip(ratio, low, high) * advantage;
      return {-weight * logprob, -weight, ratio < low || ratio > high};
    }
    case Objective::kReinforceClamped: {
      const double weight = clip(ratio, 0.0, high) * advantage;
      return {-weight * logprob, -weight, ratio > high};
    }
    case Objective::kReinforce: return {-advantage * logprob, -advantage, false};
    case Objective::kSupervised: return {-logprob, -1.0, false};
    case Objective::kGspo:
    case Objective::kGrpo:
    case Objective::kDapo:
    case Objective::kDrGrpo:
    case Objective::kPpoClip: break;
  }
  return clipped_minimum(ratio, ratio, advantage, low, high);
}

/// What every term of sequence i with n counted tokens is multiplied by.
double sequence_scale(const PolicyLossArgs& a, int64_t i, int64_t n) {
  const double sequences = double(a.step.sequences);
  switch (a.objective) {
    case Objective::kGspo: return (a.sequence_weight == SequenceWeight::kLength ? double(n) : 1.0) / sequences;
    case Objective::kGrpo:
      return 1.0 / (double(a.step.groups) * double(a.group_sizes.as<int32_t>()[i]) * double(n));
    case Objective::kDapo:
    case Objective::kCispo:
    case Objective::kSupervised: return 1.0 / double(a.step.counted_tokens);
    case Objective::kDrGrpo: return 1.0 / (sequences * a.step.dr_grpo);
    case Objective::kPpoClip:
    case Objective::kReinforceClamped:
    case Objective::kReinforce: break;
  }
  return 1.0 / sequences;
}

/// The views as pointers; behavior and reference are null when empty.
struct Tokens {
  const float *logprob, *behavior, *reference, *entropy, *advantage;
  const uint8_t* mask;
  float *a, *b, *ratio;
  uint8_t* clipped;

  explicit Tokens(const PolicyLossArgs& x)
      : logprob(x.logprobs.as<float>()),
        behavior(x.objective == Objective::kSupervised ? nullptr : x.behavior_logprobs.as<float>()),
        reference(x.reference_logprobs.as<float>()), entropy(x.entropies.as<float>()),
        advantage(x.token_advantages.as<float>()), mask(x.mask.as<uint8_t>()), a(x.a.as<float>()),
        b(x.b.as<float>()), ratio(x.ratios.as<float>()), clipped(x.clipped.as<uint8_t>()) {}

  double log_ratio(int64_t t) const { return behavior ? double(logprob[t]) - double(behavior[t]) : 0.0; }
};

/// KL and entropy terms of token t with weight w: added to the loss and to a_t; b_t is set.
double regularize(const PolicyLossArgs& x, const Tokens& token, int64_t t, double w, double* slope) {
  double loss = 0;
  if (token.reference && x.kl_coef != 0.0f) {
    const double d = double(token.reference[t]) - double(token.logprob[t]);
    loss += double(x.kl_coef) * w * (std::expm1(d) - d);
    *slope -= double(x.kl_coef) * w * std::expm1(d);
  }
  if (x.entropy_coef != 0.0f) loss -= double(x.entropy_coef) * w * double(token.entropy[t]);
  token.b[t] = float(-double(x.entropy_coef) * w);
  return loss;
}

/// Loss of tokens [begin, end), which are sequence i; writes all per-token outputs.
double sequence_loss(const PolicyLossArgs& x, const Tokens& token, int64_t i, int64_t begin, int64_t end) {
  int64_t n = 0;
  double log_ratio_sum = 0;
  for (int64_t t = begin; t < end; ++t) {
    token.a[t] = token.b[t] = token.ratio[t] = 0.0f;
    token.clipped[t] = 0;
    if (!token.mask[t]) continue;
    log_ratio_sum += token.log_ratio(t);
    ++n;
  }
  if (n == 0) return 0.0;
  const bool by_sequence = x.objective == Objective::kGspo;
  const double scale = sequence_scale(x, i, n);
  const double regularizer =
      1.0 / (double(x.step.sequences) * (x.sequence_weight == SequenceWeight::kLength ? 1.0 : double(n)));
  const double advantage = x.advantages.empty() ? 0.0 : double(x.advantages.as<float>()[i]);
  const double sequence_ratio = std::exp(log_ratio_sum / double(n));
  const Term shared = clipped_minimum(sequence_ratio, sequence_ratio / double(n), advantage,
                                      1.0 - double(x.clip_low), 1.0 + double(x.clip_high));
  double loss = by_sequence ? scale * shared.value : 0.0;
  for (int64_t t = begin; t < end; ++t) {
    if (!token.mask[t]) continue;
    const double ratio = by_sequence ? sequence_ratio : std::exp(token.log_ratio(t));
    const double token_advantage = x.objective == Objective::kPpoClip ? double(token.advantage[t]) : advantage;
    const Term term = by_sequence ? shared : token_term(x, ratio, token_advantage, double(token.logprob[t]));
    if (!by_sequence) loss += scale * term.value;
    double slope = scale * term.slope;
    loss += regularize(x, token, t, regularizer, &slope);
    token.a[t] = float(slope);
    token.ratio[t] = float(ratio);
    token.clipped[t] = term.clipped;
  }
  return loss;
}

}  // namespace

void policy_loss(const PolicyLossArgs& args) {
  const int32_t* start = args.cu_seqlens.as<int32_t>();
  const Tokens token(args);
  for (int64_t i = 0; i < args.sequence_losses.dim(0); ++i) {
    args.sequence_losses.as<double>()[i] = sequence_loss(args, token, i, start[i], start[i + 1]);
  }
}

}  // namespace hone::kernels::cpu
