// Divergence of an output head's rows from a teacher's, and its gradient: a part of lm_head_grad.
#pragma once

#include <cstdint>

#include "core/arena.h"
#include "core/stream.h"
#include "core/tensor.h"
#include "kernels/matmul.h"

namespace hone::kernels {

/// Smallest probability of the rest as one token: below that is the rounding error of a sum of probabilities in f32.
inline constexpr double kLeastRest = 0x1p-20;

/// Divergence of a student's distribution S and a teacher's T for one token, both at the head's temperature:
/// beta 0: KL(T || S) = sum T (log T - log S) beta 1: KL(S || T) = sum S (log S - log T)
/// between: beta KL(T || M) + (1 - beta) KL(S || M), M = beta T + (1 - beta) S
/// Over the whole vocabulary of the student, with T divided by its mass there; or over the teacher's k likeliest
/// tokens, with S and T each divided by its mass on them, which ignores S's mass on other tokens; or over those k and
/// all others as one more token, at beta 1: the smallest KL of two distributions with these probabilities.
/// Source: Agarwal et al. 2024, "On-Policy Distillation of Language Models", arXiv 2306.13649, equations 1 and 2; with
/// the k likeliest as in TRL's distillation trainers, which have no entry for the rest.
struct Divergence {
  float beta = 0.5f;

  // The teacher over the whole vocabulary: inputs of its head for the R rows, and the head, V' >= V rows.
  TensorView hidden{};  // [R, head.k] f32 (CUDA bf16)
  PackedMatrix head{};  // of [V', C'], on CUDA row-major in f32
  float softcap = 0.0f;  // CPU only

  // Or its likeliest tokens for each row, in any order, each once, and log-probs at the head's temperature.
  TensorView ids{};       // [R, k] i32
  TensorView logprobs{};  // [R, k] f32
  bool rest = false;  // all other tokens count as one more, of probability kLeastRest or more

  Arena* scratch = nullptr;  // divergence_scratch_bytes taken and released; null: allocates (CPU)

  int64_t k() const { return ids.empty() ? 0 : ids.dim(1); }
};

/// Bytes for lm_head_grad's R rows: a chunk of logits of the student, and of the teacher if it has a head.
int64_t divergence_scratch_bytes(const Stream& stream, int64_t rows, int64_t vocabulary, const Divergence& divergence);

}  // namespace hone::kernels
