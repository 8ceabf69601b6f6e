// Formulas of the objectives for one sequence and one token, shared by CPU and GPU; internal to policy_loss.
#pragma once

#include <cmath>

#include "core/host_device.h"
#include "kernels/policy_loss.h"

namespace hone::kernels {

/// PolicyLossArgs as pointers, which are null for empty views; `behavior` is null if supervised.
struct PolicyTokens {
  Objective objective;
  SequenceWeight sequence_weight;
  StepNormalizer step;
  double low, high;  // bounds of the ratio clip; for gmpo bounds of log rho
  double dual;       // the ratio above which a term of a negative advantage is constant
  double off_policy_mask;
  double gate_positive, gate_negative;
  double kl_coef, entropy_coef;
  KlEstimator kl_estimator;
  Correction correction;
  double weight_low, weight_high;
  const float *logprob, *behavior, *proximal, *reference, *entropy, *advantage, *token_advantage, *token_weight, *token_penalty;
  const uint8_t* mask;
  const int32_t *starts, *group_sizes;
  const double *custom_slopes, *custom_losses;
  float *a, *b, *ratio, *weight;
  uint8_t* clipped;
  double* losses;

  HONE_HOST_DEVICE bool corrected() const { return correction != Correction::kNone; }
  /// Logarithm of the importance ratio that the objective uses.
  HONE_HOST_DEVICE double log_ratio(int64_t t) const {
    const float* old = corrected() ? proximal : behavior;
    return old ? double(logprob[t]) - double(old[t]) : 0.0;
  }
  /// Logarithm of the ratio to the policy that sampled.
  HONE_HOST_DEVICE double log_drift(int64_t t) const { return behavior ? double(logprob[t]) - double(behavior[t]) : 0.0; }
  /// log q_t: how far the trainer's log-prob is from the engine's.
  HONE_HOST_DEVICE double log_gap(int64_t t) const { return double(proximal[t]) - double(behavior[t]); }
  /// True if tokens of a sequence may have different weights.
  HONE_HOST_DEVICE bool weighted() const { return corrected() || token_weight; }
  /// True if all tokens of a sequence share one objective term.
  HONE_HOST_DEVICE bool by_sequence() const { return objective == Objective::kGspo || objective == Objective::kGmpo; }
  HONE_HOST_DEVICE bool has_sequence_ratio() const { return objective == Objective::kGspo || objective == Objective::kGspoToken; }
  /// True if gmpo's bound applies to a token of sequence i, as in c(x, A) = min(x A, clip(x) A).
  HONE_HOST_DEVICE bool is_bounded(int64_t i, double log_ratio) const {
    return (advantage[i] > 0 && log_ratio > high) || (advantage[i] < 0 && log_ratio < low);
  }
  /// The value whose mean over sequence i gives its ratio.
  HONE_HOST_DEVICE double averaged_log_ratio(int64_t i, int64_t t) const {
    const double x = log_ratio(t);
    return objective != Objective::kGmpo || !is_bounded(i, x) ? x : x > high ? high : low;
  }
};

inline PolicyTokens policy_tokens(const PolicyLossArgs& x) {
  PolicyTokens p;
  p.objective = x.objective;
  p.sequence_weight = x.sequence_weight;
  p.step = x.step;
  const double middle = x.objective == Objective::kGmpo ? 0.0 : 1.0;
  p.low = middle - double(x.clip_low);
  p.high = middle + double(x.clip_high);
  p.dual = double(x.dual_clip);
  p.off_policy_mask = double(x.off_policy_mask);
  p.gate_positive = double(x.gate_positive);
  p.gate_negative = double(x.gate_negative);
  p.kl_coef = double(x.kl_coef);
  p.entropy_coef = double(x.entropy_coef);
  p.kl_estimator = x.kl_estimator;
  p.correction = x.correction;
  p.weight_low = double(x.correction_low);
  p.weight_high = double(x.correction_high);
  p.logprob = x.logprobs.as<float>();
  p.behavior = x.objective == Objective::kSupervised ? nullptr : x.behavior_logprobs.as<float>();
  p.proximal = x.proximal_logprobs.as<float>();
  p.reference = x.reference_logprobs.as<float>();
  p.entropy = x.entropies.as<float>();
  p.advantage = x.advantages.as<float>();
  p.token_advantage = x.token_advantages.as<float>();
  p.token_weight = x.token_weights.as<float>();
  p.token_penalty = x.token_penalties.as<float>();
  p.mask = x.mask.as<uint8_t>();
  p.starts = x.cu_seqlens.as<int32_t>();
  p.group_sizes = x.group_sizes.as<int32_t>();
  p.custom_slopes = x.custom_slopes.as<double>();
  p.custom_losses = x.custom_losses.as<double>();
  p.a = x.a.as<float>();
  p.b = x.b.as<float>();
  p.ratio = x.ratios.as<float>();
  p.weight = p.corrected() ? x.weights.as<float>() : nullptr;
  p.clipped = x.clipped.as<uint8_t>();
  p.losses = x.sequence_losses.as<double>();
  return p;
}

/// One objective term, to be minimised, without its weight: value, slope with respect to new_t, and whether
/// it was clipped.
struct PolicyTerm {
  double value, slope;
  bool clipped;
};

/// Clips x; NaN stays NaN, which std::clamp does not guarantee.
HONE_HOST_DEVICE inline double clip_ratio(double x, double low, double high) { return x > high ? high : x < low ? low : x; }

/// -min(x A, clip(x) A), for A < 0 at most -p.dual A; dx is the slope of x with respect to new_t.
HONE_HOST_DEVICE inline PolicyTerm clipped_minimum(const PolicyTokens& p, double x, double dx, double advantage) {
  const double high = advantage < 0 ? p.dual : p.high;
  const bool clipped = (advantage != 0 && x > high) || (advantage < 0 && x < p.low);
  return {-(clipped ? clip_ratio(x, p.low, high) : x) * advantage, clipped ? 0.0 : -dx * advantage, clipped};
}

/// SAPO's term -(4/tau) sigmoid(tau (x - 1)) A, whose slope at x = 1 is that of -x A.
HONE_HOST_DEVICE inline PolicyTerm gated(double x, double tau, double advantage) {
  const double u = tau * (x - 1.0), e = exp(-fabs(u)), other = e / (1.0 + e);  // sigmoid(-|u|)
  const double gate = u < 0 ? other : 1.0 - other;
  const double slope = e == 0.0 ? 0.0 : 4.0 * other * (1.0 - other) * x;  // also where x has overflowed
  return {-4.0 / tau * gate * advantage, -slope * advantage, false};
}

HONE_HOST_DEVICE inline PolicyTerm token_term(const PolicyTokens& p, double ratio, double advantage, double logprob) {
  switch (p.objective) {
    case Objective::kCispo: {
      const double weight = clip_ratio(ratio, p.low, p.high) * advantage;
      return {-weight * logprob, -weight, ratio < p.low || ratio > p.high};
    }
    case Objective::kReinforceClamped: {
      const double weight = clip_ratio(ratio, 0.0, p.high) * advantage;
      return {-weight * logprob, -weight, ratio > p.high};
    }
    case Objective::kReinforce: return {-advantage * logprob, -advantage, false};
    case Objective::kSupervised: return {-logprob, -1.0, false};
    case Objective::kSapo: return gated(ratio, advantage > 0 ? p.gate_positive : p.gate_negative, advantage);
    case Objective::kGspo:
    case Objective::kGrpo:
    case Objective::kDapo:
    case Objective::kDrGrpo:
    case Objective::kPpoClip:
    case Objective::kGspoToken:
    case Objective::kGmpo:
    case Objective::kCustom: break;
  }
  return clipped_minimum(p, ratio, ratio, advantage);
}

/// The factor of every term of sequence i, which has n counted tokens.
HONE_HOST_DEVICE inline double sequence_scale(const PolicyTokens& p, int64_t i, int64_t n) {
  const double sequences = double(p.step.sequences);
  const bool by_length = p.sequence_weight == SequenceWeight::kLength;
  switch (p.objective) {
    case Objective::kGspo:
    case Objective::kGmpo: return (by_length ? double(n) : 1.0) / sequences;
    case Objective::kGspoToken:
    case Objective::kSapo: return 1.0 / (sequences * (by_length ? 1.0 : double(n)));
    case Objective::kGrpo: return 1.0 / (double(p.step.groups) * double(p.group_sizes[i]) * double(n));
    case Objective::kDapo:
    case Objective::kCispo:
    case Objective::kSupervised: return 1.0 / double(p.step.counted_tokens);
    case Objective::kDrGrpo: return 1.0 / (sequences * p.step.dr_grpo);
    case Objective::kCustom: return 1.0;
    case Objective::kPpoClip:
    case Objective::kReinforceClamped:
    case Objective::kReinforce: break;
  }
  return 1.0 / sequences;
}

/// A correction's weight, and whether the correction clipped or zeroed it.
struct CorrectionWeight {
  double value;
  bool changed;
};

/// Turns x into a weight: clips it to the correction's bounds or, if `masks`, replaces it by 0 outside of
/// them. NaN stays NaN.
HONE_HOST_DEVICE inline CorrectionWeight bounded_weight(const PolicyTokens& p, double x, bool masks) {
  const bool outside = x > p.weight_high || x < p.weight_low;
  return {outside && masks ? 0.0 : clip_ratio(x, p.weight_low, p.weight_high), outside};
}

/// The weight that all tokens of a sequence share; for the geometric mask, whether the sequence passes.
HONE_HOST_DEVICE inline CorrectionWeight sequence_correction(const PolicyTokens& p, int64_t n, double log_gap_sum) {
  switch (p.correction) {
    case Correction::kSequenceTis: return bounded_weight(p, exp(log_gap_sum), false);
    case Correction::kSequenceMask: return bounded_weight(p, exp(log_gap_sum), true);
    case Correction::kGeometricMask: return bounded_weight(p, exp(log_gap_sum / double(n)), true);
    case Correction::kNone:
    case Correction::kTis:
    case Correction::kIcepop:
    case Correction::kDppoTv:
    case Correction::kDppoKl: break;
  }
  return {1.0, false};
}

/// KL of two distributions over {this token, any other token}, given the token's two log-probs.
HONE_HOST_DEVICE inline double binary_kl(double was, double now) {
  const double others_were = fmax(0.0, -expm1(was)), others = fmax(0.0, -expm1(now));
  return exp(was) * (was - now) + (others_were > 0.0 ? others_were * log(others_were / others) : 0.0);
}

/// q_t, or 0 if the policy's probability is further from the sampler's than allowed, in the direction in
/// which the advantage pushes it.
HONE_HOST_DEVICE inline CorrectionWeight gap_mask(const PolicyTokens& p, int64_t t, double advantage) {
  const double was = double(p.behavior[t]), now = double(p.logprob[t]);
  const double gap = p.correction == Correction::kDppoTv ? fabs(exp(now) - exp(was)) : binary_kl(was, now);
  const bool masked = (advantage > 0 && now > was && gap > p.weight_high) || (advantage < 0 && now < was && gap > p.weight_low);
  return {masked ? 0.0 : exp(p.log_gap(t)), masked};
}

HONE_HOST_DEVICE inline CorrectionWeight token_correction(const PolicyTokens& p, const CorrectionWeight& sequence, int64_t t,
                                                          double advantage) {
  switch (p.correction) {
    case Correction::kTis: return bounded_weight(p, exp(p.log_gap(t)), false);
    case Correction::kIcepop: return bounded_weight(p, exp(p.log_gap(t)), true);
    case Correction::kGeometricMask: return {sequence.changed ? 0.0 : exp(p.log_gap(t)), sequence.changed};
    case Correction::kDppoTv:
    case Correction::kDppoKl: return gap_mask(p, t, advantage);
    case Correction::kNone:
    case Correction::kSequenceTis:
    case Correction::kSequenceMask: break;
  }
  return sequence;
}

/// Values that the tokens of one sequence share; `loss` is the part that is not a sum over tokens.
struct PolicySequence {
  double scale, regularizer, advantage, ratio, loss;
  bool masks_bad;  // the policy terms of tokens with negative advantages are 0
  double terms;  // number of tokens that share the factor `scale`: n_i for objectives by sequence, else 1
  PolicyTerm term;
  CorrectionWeight correction;
};

HONE_HOST_DEVICE inline PolicySequence policy_sequence(const PolicyTokens& p, int64_t i, int64_t n, double log_ratio_sum,
                                                       double log_gap_sum) {
  PolicySequence s;
  s.scale = sequence_scale(p, i, n);
  s.regularizer = 1.0 / (double(p.step.sequences) * (p.sequence_weight == SequenceWeight::kLength ? 1.0 : double(n)));
  s.advantage = p.advantage ? double(p.advantage[i]) : 0.0;
  s.ratio = exp(log_ratio_sum / double(n));
  s.term = p.objective == Objective::kGmpo
               ? PolicyTerm{-s.ratio * s.advantage, -s.ratio / double(n) * s.advantage, false}
               : clipped_minimum(p, s.ratio, s.ratio / double(n), s.advantage);
  s.masks_bad = -(log_ratio_sum + log_gap_sum) / double(n) > p.off_policy_mask;
  s.loss = p.by_sequence() && !p.weighted() && !(s.masks_bad && s.advantage < 0) ? s.scale * s.term.value : 0.0;
  s.terms = p.by_sequence() ? double(n) : 1.0;
  if (p.objective == Objective::kCustom) s.loss = p.custom_losses[i];
  s.correction = sequence_correction(p, n, log_gap_sum);
  // a token's part of the sequence's loss
  if (p.by_sequence()) s.term.value = p.weighted() ? s.term.value / double(n) : 0.0;
  return s;
}

/// The KL term, d = ref - new; `log_drift` is new - behavior.
HONE_HOST_DEVICE inline PolicyTerm kl_term(KlEstimator estimator, double d, double log_drift) {
  switch (estimator) {
    case KlEstimator::kUnbiased: return {exp(log_drift) * (expm1(d) - d), -exp(log_drift) * d, false};
    case KlEstimator::kK1: return {-d, 1.0, false};
    case KlEstimator::kK2: return {0.5 * d * d, -d, false};
    case KlEstimator::kK3: break;
  }
  return {expm1(d) - d, -expm1(d), false};
}

/// Sets the outputs of a token that does not count.
HONE_HOST_DEVICE inline void clear_token(const PolicyTokens& p, int64_t t) {
  p.a[t] = p.b[t] = p.ratio[t] = 0.0f;
  p.clipped[t] = 0;
  if (p.weight) p.weight[t] = 0.0f;
}

/// The objective term of counted token t of sequence i.
HONE_HOST_DEVICE inline PolicyTerm term_of(const PolicyTokens& p, const PolicySequence& s, int64_t i, int64_t t, double ratio,
                                             double advantage) {
  if (p.objective == Objective::kCustom) return {0.0, p.custom_slopes[t], false};
  if (s.masks_bad && advantage < 0) return {0.0, 0.0, true};
  if (p.objective == Objective::kGspo) return s.term;
  if (p.objective == Objective::kGmpo) {
    const bool bounded = p.is_bounded(i, p.log_ratio(t));
    return {s.term.value, bounded ? 0.0 : s.term.slope, bounded};
  }
  return token_term(p, ratio, advantage, double(p.logprob[t]));
}

/// Writes the outputs of counted token t of sequence i; returns its part of the loss.
HONE_HOST_DEVICE inline double write_token(const PolicyTokens& p, const PolicySequence& s, int64_t i, int64_t t) {
  const double ratio = p.has_sequence_ratio() ? s.ratio : exp(p.log_ratio(t));
  const double advantage = p.token_advantage && !p.by_sequence() ? double(p.token_advantage[t]) : s.advantage;
  const PolicyTerm term = term_of(p, s, i, t, ratio, advantage);
  const CorrectionWeight weight = token_correction(p, s.correction, t, advantage);
  double loss = s.scale * term.value, slope = s.scale * term.slope;
  if (p.weight) {
    loss *= weight.value, slope *= weight.value;
    p.weight[t] = float(weight.value);
  }
  if (p.token_weight) loss *= double(p.token_weight[t]), slope *= double(p.token_weight[t]);
  if (p.token_penalty) {
    const double x = p.log_ratio(t), k = s.scale / s.terms * double(p.token_penalty[t]);
    loss += k * fabs(x);
    slope += x > 0 ? k : x < 0 ? -k : 0.0;
  }
  if (p.reference && p.kl_coef != 0.0) {
    const double d = double(p.reference[t]) - double(p.logprob[t]), k = p.kl_coef * s.regularizer;
    const PolicyTerm kl = kl_term(p.kl_estimator, d, p.log_drift(t));
    loss += k * kl.value;
    slope += k * kl.slope;
  }
  if (p.entropy_coef != 0.0) loss -= p.entropy_coef * s.regularizer * double(p.entropy[t]);
  p.a[t] = float(slope);
  p.b[t] = float(-p.entropy_coef * s.regularizer);
  p.ratio[t] = float(ratio);
  p.clipped[t] = term.clipped || weight.changed;
  return loss;
}

}  // namespace hone::kernels
