// Policy objectives as per-token coefficients: from log-probs to dLoss/dlogprob and dLoss/dentropy.
#pragma once

#include <limits>

#include "core/stream.h"
#include "core/tensor.h"

namespace hone::kernels {

/// Formulas are in docs/reference/recipe.md. N: sequences in the step (over all micro-batches); n_i: counted
/// tokens of sequence i; rho_t = exp(new - behavior); s_i = exp(mean_t log rho_t); c(x, A) = min(x A, clip(x)
/// A).
enum class Objective : uint8_t {
  kGspo,              // -(w_i) c(s_i, A_i)                      sequence ratio; w_i by SequenceWeight
  kGrpo,              // -(1/groups)(1/|g|)(1/n_i) sum_t c(rho_t, A_i)
  kDapo,              // -(1/sum n) sum_t c(rho_t, A_i)
  kDrGrpo,            // -(1/(N normaliser)) sum_t c(rho_t, A_i)
  kPpoClip,           // -(1/N) sum_t c(rho_t, A_t)
  kCispo,             // -(1/sum n) sum_t stop(clip(rho_t)) A_i new_t
  kReinforceClamped,  // -(1/N) sum_t stop(clamp(rho_t, 0, 1+clip_high)) A_i new_t
  kReinforce,         // -(1/N) sum_t A_i new_t
  kGspoToken,         // -(w_i/n_i) sum_t c(s_it, A_t)           s_it = stop(s_i / exp(new_t)) exp(new_t)
  kGmpo,              // -(w_i) A_i exp(mean_t l_it)             l_it = log rho_t within [-clip_low, clip_high], as c() clips
  kSapo,              // -(w_i/n_i) sum_t (4/tau) sigmoid(tau (rho_t - 1)) A_t      tau by the sign of A_t
  kCustom,            // the caller gives a loss per sequence and a slope per token
  kSupervised,        // -(1/sum n) sum_t new_t
};
enum class SequenceWeight : uint8_t { kUniform, kLength };  // 1/N, or n_i/N as in PipelineRL

/// The KL term of a token, d = ref - new. For k1 and k3 its mean over samples of the policy is KL(policy ||
/// reference); for k2 the gradient of its mean is that of the KL. For the unbiased one, mean and gradient over samples of
/// the behavior policy are those of the KL (DeepSeek-V3.2, section 3.1).
enum class KlEstimator : uint8_t {
  kK1,  // -d
  kK2,  // d^2 / 2
  kK3,  // exp(d) - d - 1
  kUnbiased,  // exp(new - behavior) (exp(d) - d - 1)
};

/// Importance correction: a constant factor w_t of every token's term, for trainer weights that would not
/// have sampled as the engine did. q_t = exp(proximal - behavior), Q_i the product of q_t over the counted
/// tokens of sequence i, g_i their geometric mean. mu = exp(behavior) and p = exp(new) are the sampled
/// token's probabilities; D(mu, p) = mu log(mu/p) + (1-mu) log((1-mu)/(1-p)).
enum class Correction : uint8_t {
  kNone,           // w_t = 1
  kTis,            // w_t = clip(q_t, low, high)
  kSequenceTis,    // w_t = clip(Q_i, low, high)
  kIcepop,         // w_t = q_t where low <= q_t <= high, else 0
  kSequenceMask,   // w_t = Q_i where low <= Q_i <= high, else 0
  kGeometricMask,  // w_t = q_t where low <= g_i <= high, else 0
  kDppoTv,         // w_t = q_t, or 0 where A_t < 0 and mu - p > low, or A_t > 0 and p - mu > high
  kDppoKl,         // w_t = q_t, or 0 where A_t < 0, p < mu and D(mu, p) > low, or A_t > 0, p > mu and D(mu,
                   // p) > high
};

/// Totals of the step by which losses are divided; equal for all of its micro-batches.
struct StepNormalizer {
  int64_t sequences = 1;       // N, including those that are empty or left out of the batch
  int64_t groups = 1;
  int64_t counted_tokens = 1;  // sum of n_i
  double dr_grpo = 1.0;        // tokens
};

/// Sequence i is tokens [cu_seqlens[i], cu_seqlens[i+1]); index t holds the log-prob of token t itself.
/// Coefficients are derivatives of the loss to be MINIMISED:
///   a_t = dL/dnew_t = policy term + kl k'(new_t) w_t,   b_t = dL/dH_t = -entropy_coef w_t,
///   w_t = 1/(N n_i) (uniform) or 1/N (length); 0 where masked out. k by KlEstimator.
/// Sums in f64. Outputs overwritten. A sequence with nothing counted: ratio 1, loss 0, coefficients 0.
/// Sums are f64; outputs are overwritten. A sequence without counted tokens has ratio 1, loss 0 and
/// coefficients 0. token_weights multiply the policy term of each token, as a correction's w_t do; `weights`
/// gets only w_t. token_penalties beta_t add beta_t |log rho_t|, with the factors of the policy term except
/// token_weights and w_t. clipped: A > 0 and x > 1 + clip_high, or A < 0 and x < 1 - clip_low (strict); at
/// equality the gradient flows. Where the loss is made of c(x, A), it is also clipped for A < 0 and x > dual_clip: the
/// term is then -dual_clip A, so that an improbable token of a bad answer has a bounded loss and no gradient (dual-clip
/// PPO, Ye et al. 2020, "Mastering Complex Control in MOBA Games with Deep Reinforcement Learning"). For GMPO x is 1 + log rho_t, and a clipped token still is a factor of the
/// mean.
///
/// With a correction, ratios are relative to `proximal` instead of `behavior`, and w_t multiplies a token's
/// policy term. GSPO's term is then (1/n_i) sum_t w_t c(s_it, A_i), so that a token of weight 0 has no
/// gradient; GMPO's is changed in the same way. Denominators, KL and entropy do not change. clipped is also 1
/// where the correction clipped or zeroed a weight. Throws kConfig for a correction of the supervised
/// objective, or of a custom one, which gets the behavior log-probs itself.
/// Source: GSPO and GSPO-token (Zheng et al. 2025), Apriel-Reasoner eq. 2-3; GMPO (Zhao et al. 2025); SAPO
/// (Gao et al. 2025); the others, and the corrections, as in docs/reference/recipe.md.
struct PolicyLossArgs {
  Objective objective = Objective::kGspo;
  SequenceWeight sequence_weight = SequenceWeight::kUniform;
  TensorView logprobs;            // [T] f32 in
  TensorView behavior_logprobs;   // [T] f32 in, recorded by the engine that sampled; empty if supervised
  TensorView proximal_logprobs;   // [T] f32 in, the trainer's at the start of the step; with a correction only
  TensorView reference_logprobs;  // [T] f32 in; empty: no KL term
  TensorView entropies;           // [T] f32 in; used only to report and for entropy_coef != 0
  TensorView mask;                // [T] u8 in, 1 for tokens that the policy sampled
  TensorView cu_seqlens;          // [S+1] i32 in
  TensorView advantages;          // [S] f32 in
  // [T] f32 in, used instead of `advantages`, except in gspo and gmpo; required by ppo-clip
  TensorView token_advantages;
  TensorView token_weights;       // [T] f32 in, constant; empty: 1
  TensorView token_penalties;     // [T] f32 in, constant; empty: 0
  TensorView group_sizes;         // [S] i32 in, |g| of each sequence's group, grpo only
  TensorView custom_slopes;       // [T] f64 in, custom only: dL/dnew_t of custom_losses
  TensorView custom_losses;       // [S] f64 in, custom only; not read for a sequence with nothing counted
  TensorView a, b;                // [T] f32 out
  // [T] f32 out; gspo and gspo-token write s_i for every counted token; 0 for tokens that do not count
  TensorView ratios;
  TensorView clipped;             // [T] u8 out; 0 for tokens that do not count
  TensorView weights;             // [T] f32 out, w_t; 0 where masked out; with a correction only
  // [S] f64 out, whose sum is the loss of this micro-batch (policy + KL + entropy)
  TensorView sequence_losses;
  StepNormalizer step;
  float clip_low = 3e-3f, clip_high = 4e-3f;
  float dual_clip = std::numeric_limits<float>::infinity();
  /// The policy term of a token with A < 0 is 0 in a sequence whose mean of behavior - new is above this bound (off-policy
  /// sequence masking, DeepSeek-V3.2, section 3.1); such tokens are reported as clipped. Not for gmpo and custom objectives.
  float off_policy_mask = std::numeric_limits<float>::infinity();
  float gate_positive = 1.0f, gate_negative = 1.05f;  // tau of sapo
  float kl_coef = 0.0f, entropy_coef = 0.0f;
  KlEstimator kl_estimator = KlEstimator::kK3;
  Correction correction = Correction::kNone;
  float correction_low = 0.0f, correction_high = 1.0f;
};
void policy_loss(const Stream& stream, const PolicyLossArgs& args);

}  // namespace hone::kernels
