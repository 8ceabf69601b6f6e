// Divergence of an output head's rows from a teacher's, and its gradient: a part of lm_head_grad.
#pragma once

#include <cstdint>

#include "core/arena.h"
#include "core/stream.h"
#include "core/tensor.h"
#include "kernels/matmul.h"

namespace hone::kernels {

/// Of the rest as one token: less than that is the rounding of a sum of probabilities in f32.
inline constexpr double kLeastRest = 0x1p-20;

/// Of a student's distribution S and a teacher's T of one token, both at the head's temperature:
///   beta 0: KL(T || S) = sum T (log T - log S)    beta 1: KL(S || T) = sum S (log S - log T)
///   between: beta KL(T || M) + (1 - beta) KL(S || M),  M = beta T + (1 - beta) S
/// Over the whole vocabulary of the student, T divided by its mass there; or over the teacher's k likeliest tokens, S and T
/// each divided by its mass on them, so that what S gives to other tokens counts nothing; or over those k and all others as
/// one more token, at beta 1: the least KL that two distributions with these probabilities can have.
/// Source: Agarwal et al. 2024, "On-Policy Distillation of Language Models", arXiv 2306.13649, equations 1 and 2; with the
/// k likeliest as TRL's distillation trainers have it without a bucket for the rest.
struct Divergence {
  float beta = 0.5f;

  // The teacher of the head's R rows, over the vocabulary: what enters its head, which has at least the student's rows.
  TensorView hidden{};  // [R, head.k] f32 (CUDA bf16)
  PackedMatrix head{};  // of [V', C'], on CUDA row-major in f32
  float softcap = 0.0f;  // CPU only

  // Or its likeliest of each, in any order, each once, with their log-probs at the head's temperature.
  TensorView ids{};       // [R, k] i32
  TensorView logprobs{};  // [R, k] f32
  bool rest = false;  // the others are one more token, whose probabilities are at least kLeastRest

  Arena* scratch = nullptr;  // divergence_scratch_bytes taken and released; null: allocates (CPU)

  int64_t k() const { return ids.empty() ? 0 : ids.dim(1); }
};

/// Of lm_head_grad's R rows, of a student's vocabulary: a chunk of logits, of both where the teacher has a head.
int64_t divergence_scratch_bytes(const Stream& stream, int64_t rows, int64_t vocabulary, const Divergence& divergence);

}  // namespace hone::kernels
