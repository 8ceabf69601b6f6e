// Input and results of one optimizer step.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/policy_loss.h"
#include "model/experts.h"

namespace hone::trainer {

/// A teacher's data for the N tokens that the mask counts, in the batch's order, for StepOptions::divergence.
struct TeacherTokens {
  const float* hidden = nullptr;    // [N, C'] inputs of its head (Trainer::teacher), or null
  const int32_t* ids = nullptr;     // [N, k] the teacher's likeliest tokens, each once, or null
  const float* logprobs = nullptr;  // [N, k] of those tokens
  int64_t columns = 0;              // C', or k
};

/// One optimizer step's data. T tokens over all sequences, S sequences; borrowed for the call.
struct TrainingBatch {
  const int32_t* tokens = nullptr;             // [T] prompt and response, sequence after sequence
  const int32_t* cu_seqlens = nullptr;         // [S+1]
  const uint8_t* mask = nullptr;               // [T] 1 on tokens the policy chose; the first of a sequence is 0
  const float* behavior_logprobs = nullptr;    // [T], read where mask is 1; null if supervised
  const float* reference_logprobs = nullptr;   // [T] or null
  const float* proximal_logprobs = nullptr;    // [T] under the weights at the start of the batch; null in its first update
  const float* advantages = nullptr;           // [S]; null if supervised
  const float* token_advantages = nullptr;     // [T] or null
  const float* token_weights = nullptr;        // [T] or null, constant factors of the tokens' policy terms
  const float* token_penalties = nullptr;      // [T] or null, of |log rho_t|
  const int32_t* group_sizes = nullptr;        // [S] or null
  const uint8_t* routes = nullptr;             // [T, route_bytes] of model/routes.h, the experts that rows go to; or null
  int64_t route_bytes = 0;
  TeacherTokens teacher;
  int64_t sequences = 0;
  kernels::StepNormalizer step;                // counted_tokens are checked against the data; sequences may be more
};

/// Input of a custom objective for one micro-batch: R counted tokens in S sequences, in host memory, borrowed for the
/// call. Arrays that the batch does not have are null.
struct SlopesRequest {
  int64_t tokens = 0, sequences = 0;                 // R, S
  const float *logprobs = nullptr, *entropies = nullptr;                       // [R] under the weights before the step
  const float *behavior = nullptr, *reference = nullptr, *token_advantages = nullptr, *token_weights = nullptr;  // [R]
  const float* advantages = nullptr;                 // [S]
  const int32_t *starts = nullptr, *group_sizes = nullptr;  // [S+1] index into R; [S]
  kernels::StepNormalizer step;
  double* slopes = nullptr;                          // [R] out, dL/dlogprob
  double* losses = nullptr;                          // [S] out, their sum is the loss of the micro-batch
};

/// A term of the loss in addition to the objective's: coef times the mean over the step's counted tokens of
/// kernels::Divergence from their teacher.
struct TeacherTerm {
  float coef = 0, beta = 0.5f;
  bool by_sequence = false;  // coef times w_t of each token instead, as KL and entropy terms (kernels::PolicyLossArgs)
  bool rest = false;         // kernels::Divergence::rest
  bool on() const { return coef != 0.0f; }
};

/// Router terms of the loss: means over sequences and layers with experts of what kernels/router_loss.h
/// computes from a sequence's rows: all its tokens, in the last layer those that the loss reads.
struct RouterLoss {
  float balance_coef = 0, z_coef = 0;
  bool on() const { return balance_coef != 0.0f || z_coef != 0.0f; }
};

struct StepOptions {
  kernels::Objective objective = kernels::Objective::kGspo;
  kernels::SequenceWeight sequence_weight = kernels::SequenceWeight::kUniform;
  float clip_low = 3e-3f, clip_high = 4e-3f, kl_coef = 0, entropy_coef = 0, temperature = 1;
  float gate_positive = 1, gate_negative = 1.05f;
  float lr = 0, muon_lr = 0;
  kernels::KlEstimator kl_estimator = kernels::KlEstimator::kK3;
  /// Leaves the version as it is although the weights change: for all but the last update of a batch.
  bool keeps_version = false;
  /// Relative to TrainingBatch::proximal_logprobs, or, if those are null, to the log-probs that this step computes.
  kernels::Correction correction = kernels::Correction::kNone;
  float correction_low = 0, correction_high = 1;
  TeacherTerm divergence = {};
  RouterLoss router = {};
  /// The custom objective: fills slopes and losses, or throws, which ends the step without a change. Called
  /// again for single sequences if a gradient is not finite. Not called if a log-prob is not finite.
  std::function<void(const SlopesRequest&)> slopes = {};
};

/// Results of a forward pass for a batch's tokens, in its order; optionally, for the N that the mask counts,
/// also hidden states or the k likeliest tokens, which become a student's TeacherTokens.
struct TokenScores {
  float *logprobs = nullptr, *entropies = nullptr;  // [T] out, 0 where masked out; entropies may be null
  float* hidden = nullptr;                          // [N, C] out, or null
  int32_t* ids = nullptr;                           // [N, k] out, or null
  float* top_logprobs = nullptr;                    // [N, k] out, or null
  int64_t k = 0;
  int64_t width = 0;  // C, set by the trainer
  bool teaches() const { return hidden || k > 0; }
};

/// Results of a step. Per-token and per-sequence arrays keep the order of the batch.
struct StepReport {
  double router_loss = 0;          // the part of `loss` that StepOptions::router adds
  double loss = 0, policy_loss = 0, grad_norm = 0, grad_scale = 1, update_norm = 0, weight_norm = 0;
  bool skipped = false;            // non-finite gradient or loss: weights untouched
  int64_t non_finite_sequence = -1;  // first sequence whose loss was not finite
  int64_t micro_batches = 0, trained_tokens = 0, packed_tokens = 0;
  double forward_seconds = 0, backward_seconds = 0, optimizer_seconds = 0, pack_seconds = 0;
  std::vector<float> logprobs, entropies;  // [T] under the weights before the step; 0 where masked out
  std::vector<float> ratios;               // [T] as policy_loss writes them
  std::vector<uint8_t> clipped;            // [T]
  std::vector<float> weights;              // [T] of the correction; empty without one
  std::vector<float> divergences;          // [T] from the teacher; empty without one
  std::vector<double> expert_rows;         // [L, E] rows of each expert, on this rank; empty without
  model::RouteCounts routes;               // of TrainingBatch::routes, on this rank
  std::vector<double> layer_grad_norms;    // [L + 1], the last entry is embedding, head and final norm
};

}  // namespace hone::trainer
