// Input and results of one optimizer step.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "kernels/policy_loss.h"
#include "model/experts.h"

namespace hone::trainer {

/// What a teacher says about the N tokens with mask 1, in the batch's order, for StepOptions::divergence.
struct TeacherTokens {
  const float* hidden = nullptr;    // [N, C'] inputs of the teacher's head (Trainer::teacher), or null
  const int32_t* ids = nullptr;     // [N, k] the teacher's likeliest tokens, each once, or null
  const float* logprobs = nullptr;  // [N, k] the teacher's log-probs of `ids`
  int64_t columns = 0;              // C' if `hidden` is set, otherwise k
};

/// The data of one optimizer step: S sequences with T tokens in all. The arrays are the caller's and must
/// stay valid during the call.
struct TrainingBatch {
  const int32_t* tokens = nullptr;             // [T] prompt and response, sequence after sequence
  const int32_t* cu_seqlens = nullptr;         // [S+1]
  // [T] 1 for tokens that the policy sampled; 0 for the first token of a sequence
  const uint8_t* mask = nullptr;
  const float* behavior_logprobs = nullptr;    // [T], read where mask is 1; null if supervised
  const float* reference_logprobs = nullptr;   // [T] or null
  // [T] log-probs under the weights at the start of the batch; null in the batch's first update
  const float* proximal_logprobs = nullptr;
  const float* advantages = nullptr;           // [S]; null if supervised
  const float* token_advantages = nullptr;     // [T] or null
  const float* token_weights = nullptr;        // [T] or null, constant factors of the tokens' policy terms
  const float* token_penalties = nullptr;      // [T] or null, factors of |log rho_t| in the loss
  const int32_t* group_sizes = nullptr;        // [S] or null
  // [T, route_bytes] experts that rows must go to (model/routes.h), or null
  const uint8_t* routes = nullptr;
  int64_t route_bytes = 0;
  TeacherTokens teacher;
  int64_t sequences = 0;
  // counted_tokens must equal the number of mask 1 tokens; its sequences may exceed S
  kernels::StepNormalizer step;
};

/// What a custom objective gets and returns for one micro-batch: R loss tokens in S sequences, in host memory
/// that is valid during the call. Arrays that the batch does not have are null.
struct SlopesRequest {
  int64_t tokens = 0, sequences = 0;                 // R, S
  const float *logprobs = nullptr, *entropies = nullptr;                       // [R] under the weights before the step
  const float *behavior = nullptr, *reference = nullptr, *token_advantages = nullptr, *token_weights = nullptr;  // [R]
  const float* advantages = nullptr;                 // [S]
  const int32_t *starts = nullptr, *group_sizes = nullptr;  // [S+1] index into R; [S]
  kernels::StepNormalizer step;
  double* slopes = nullptr;                          // [R] out, dL/dlogprob
  double* losses = nullptr;                          // [S] out, whose sum is the micro-batch's loss
};

/// A term that is added to the loss: coef times the mean, over the step's loss tokens, of the divergence from
/// a teacher (kernels::Divergence).
struct TeacherTerm {
  float coef = 0, beta = 0.5f;
  // multiply by coef times w_t of each token instead, as KL and entropy terms (kernels::PolicyLossArgs)
  bool by_sequence = false;
  bool rest = false;         // kernels::Divergence::rest
  bool on() const { return coef != 0.0f; }
};

/// Auxiliary loss of routers: means, over sequences and layers with experts, of what kernels/router_loss.h
/// computes from a sequence's rows (all its tokens; in the last layer only its loss rows).
struct RouterLoss {
  float balance_coef = 0, z_coef = 0;
  bool on() const { return balance_coef != 0.0f || z_coef != 0.0f; }
};

struct StepOptions {
  kernels::Objective objective = kernels::Objective::kGspo;
  kernels::SequenceWeight sequence_weight = kernels::SequenceWeight::kUniform;
  float clip_low = 3e-3f, clip_high = 4e-3f, kl_coef = 0, entropy_coef = 0, temperature = 1;
  float dual_clip = std::numeric_limits<float>::infinity();
  float off_policy_mask = std::numeric_limits<float>::infinity();
  float gate_positive = 1, gate_negative = 1.05f;
  float lr = 0, muon_lr = 0;
  kernels::KlEstimator kl_estimator = kernels::KlEstimator::kK3;
  /// The update changes weights but not the version; set for every update of a batch but the last.
  bool keeps_version = false;
  /// Importance correction relative to TrainingBatch::proximal_logprobs or, if those are null, to the
  /// log-probs that this step computes.
  kernels::Correction correction = kernels::Correction::kNone;
  float correction_low = 0, correction_high = 1;
  TeacherTerm divergence = {};
  RouterLoss router = {};
  /// The custom objective: fills slopes and losses, or throws, which ends the step without changing weights.
  /// If a gradient is not finite, it is called again for single sequences. It is not called if a log-prob is
  /// not finite.
  std::function<void(const SlopesRequest&)> slopes = {};
};

/// Results of a forward pass for a batch's tokens, in the batch's order. Optionally also hidden states or the
/// k likeliest tokens of the N tokens with mask 1, which become a student's TeacherTokens.
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
  bool skipped = false;            // the gradient or the loss was not finite, and weights are unchanged
  int64_t non_finite_sequence = -1;  // first sequence whose loss was not finite; -1: none
  int64_t micro_batches = 0, trained_tokens = 0, packed_tokens = 0;
  double forward_seconds = 0, backward_seconds = 0, optimizer_seconds = 0, pack_seconds = 0;
  std::vector<float> logprobs, entropies;  // [T] under the weights before the step; 0 where masked out
  std::vector<float> ratios;               // [T] importance ratios, as policy_loss writes them
  std::vector<uint8_t> clipped;            // [T]
  std::vector<float> weights;              // [T] weights of the importance correction; empty without one
  std::vector<float> divergences;          // [T] divergences from the teacher; empty without a teacher term
  // [L, E] rows that went to each expert, on this rank; empty without experts
  std::vector<double> expert_rows;
  // how many of TrainingBatch::routes were used and replaced, on this rank
  model::RouteCounts routes;
  std::vector<double> layer_grad_norms;    // [L + 1], the last entry is embedding, head and final norm
};

}  // namespace hone::trainer
