// Divergence of a student's output distribution from a teacher's, and its gradient; computed within
// lm_head_grad.
#pragma once

#include <cstdint>

#include "core/arena.h"
#include "core/stream.h"
#include "core/tensor.h"
#include "kernels/matmul.h"

namespace hone::kernels {

/// Smallest probability of the rest (all tokens but the k likeliest, as one token): smaller values are
/// rounding errors of a sum of f32 probabilities.
inline constexpr double kLeastRest = 0x1p-20;

/// Divergence of a student's distribution S and a teacher's T for one token, both at the head's temperature:
/// beta 0: KL(T || S) = sum T (log T - log S) beta 1: KL(S || T) = sum S (log S - log T)
/// between: beta KL(T || M) + (1 - beta) KL(S || M), M = beta T + (1 - beta) S
/// The sum runs over the student's whole vocabulary, with T divided by its mass there; or over the teacher's
/// k likeliest tokens, with S and T each divided by its mass on them, which ignores S's mass on other tokens;
/// or, at beta 1, over those k and all other tokens as one more: the smallest KL of two distributions with
/// these probabilities. Source: Agarwal et al. 2024, "On-Policy Distillation of Language Models", arXiv
/// 2306.13649, equations 1 and 2; the k likeliest as in TRL's distillation trainers, which have no entry for
/// the rest.
struct Divergence {
  float beta = 0.5f;

  // Either the teacher's whole distribution: inputs of its head for the R rows, and its head with V' >= V
  // rows.
  TensorView hidden{};  // [R, head.k] f32 (CUDA bf16)
  PackedMatrix head{};  // of [V', C'], on CUDA row-major in f32
  float softcap = 0.0f;  // CPU only

  // Or its k likeliest tokens for each row, each once, in any order, and their log-probs at the head's
  // temperature.
  TensorView ids{};       // [R, k] i32
  TensorView logprobs{};  // [R, k] f32
  bool rest = false;  // all other tokens count as one more token, whose probability is at least kLeastRest

  Arena* scratch = nullptr;  // divergence_scratch_bytes taken and released; null: allocates (CPU)

  int64_t k() const { return ids.empty() ? 0 : ids.dim(1); }
};

/// Scratch bytes for lm_head_grad's R rows: logits of a chunk of rows of the student, and of the teacher if
/// it has a head.
int64_t divergence_scratch_bytes(const Stream& stream, int64_t rows, int64_t vocabulary, const Divergence& divergence);

}  // namespace hone::kernels
