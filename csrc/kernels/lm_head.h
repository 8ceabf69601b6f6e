// The FP32 output head: log-probabilities, entropy, gradient and sampling, never storing [T, V].
//
// On CUDA h and dh are bf16 and widths multiples of 8; w is row-major [V, C] in f32 (split on the fly into three bf16
// parts, exact products) or bf16; scratch is required. Values in device memory are not checked before the launch: the
// caller must refuse targets outside the vocabulary and params outside their ranges on the host.
// Cost per row: 2 C V FLOP a pass; three passes for the statistics or a draw (bf16: one), four for a gradient (three).
// Bytes: the weights once per 256 rows while drawing; per row of a gradient 6 V of dz.
#pragma once

#include "core/arena.h"
#include "core/host_device.h"
#include "core/philox.h"
#include "core/stream.h"
#include "core/tensor.h"
#include "kernels/divergence.h"
#include "kernels/matmul.h"

namespace hone::kernels {

/// Pass 1. With z = h W^T and p = softmax(z / temperature):
///   logprob_r = log p[target_r],  entropy_r = -sum p log p  (nats),  lse_r = log sum exp(z / temperature)
/// R rows, C width, V vocabulary. Rows go through in chunks; a row's bits do not depend on the others,
/// and equal those of lm_head_sample for the same h and temperature, whatever it truncates.
/// Throws kShape naming the row if a target is outside [0, V) (CPU), kConfig unless temperature > 0, kUnsupported for dh
/// on CUDA.
struct LmHeadArgs {
  TensorView h;         // [R, C] f32 (CUDA bf16) in
  PackedMatrix w;       // of [V, C]
  TensorView targets;   // [R] i32 in
  TensorView logprobs;  // [R] f32 out
  TensorView entropies; // [R] f32 out
  TensorView lse;       // [R] f32 out
  float temperature = 1.0f;
  Arena* scratch = nullptr;  // lm_head_scratch_bytes taken and released; null: allocates (CPU)
  float softcap = 0.0f;  // > 0: logits z become softcap tanh(z / softcap) before anything else. CPU only
  /// If dh is given: also dlogprob_r/dh_r, which scale_rows makes dLoss/dh_r. This replaces pass 2 where the head is frozen and no
  /// row has an entropy term or a teacher: two products over the vocabulary instead of three. CPU only.
  PackedMatrix w_t{};  // of the transpose [C, V]
  TensorView dh{};     // [R, C] f32 out
};
void lm_head(const Stream& stream, const LmHeadArgs& args);

inline constexpr int64_t kHeadGradientRows = 2048;

/// Pass 2. Recomputes z by chunks; for any objective with per-row coefficients
/// a_r = dLoss/dlogprob_r and b_r = dLoss/dentropy_r:
///   dz = [ a (onehot(target) - p) - b p (log p + entropy) ] / temperature,   dh = dz W,   dW += dz^T h
/// With a teacher it also writes each row's divergence from it, and adds slope ddivergence/dz to dz. dW is
/// summed in ascending row order, on CUDA one sum per chunk of rows. Throws kConfig unless chunk > 0.
/// Source: architecture §5.4.
struct LmHeadGradArgs {
  TensorView h;          // [R, C] f32 (CUDA bf16) in
  PackedMatrix w;        // of [V, C]
  PackedMatrix w_t;      // of its transpose [C, V]; CUDA reads w itself
  TensorView targets;    // [R] i32 in
  TensorView lse;        // [R] f32 in, from pass 1
  TensorView entropies;  // [R] f32 in, from pass 1
  TensorView a, b;       // [R] f32 in; b empty: no entropy term
  TensorView dh;         // [R, C] f32 (CUDA bf16) out
  TensorView dw;         // [V, C] f32 accumulated; or empty: not wanted
  float temperature = 1.0f;
  Arena* scratch = nullptr;
  /// CUDA: rows whose dz is in memory at a time; scratch must be large enough. Each chunk reads and writes all of dw,
  /// and dW's bits depend on it, so it must never depend on free memory.
  int64_t chunk = kHeadGradientRows;
  float softcap = 0.0f;  // > 0: logits z become softcap tanh(z / softcap) before anything else. CPU only
  const Divergence* teacher = nullptr;
  TensorView slopes{};       // [R] f32 in, dLoss/ddivergence
  TensorView divergences{};  // [R] f32 out
};
void lm_head_grad(const Stream& stream, const LmHeadGradArgs& args);

/// Row r of dh [R, C] f32 is multiplied by a[r] (f32 [R]), in place. CPU only.
void scale_rows(const Stream& stream, const TensorView& a, const TensorView& dh);

/// The k likeliest tokens of each row by falling log-prob, the smaller id first among equals, and their
/// log-probs, equal to those of lm_head. Throws kConfig unless k is in [1, V].
struct LmHeadTopArgs {
  TensorView h;           // [R, C] f32 (CUDA bf16) in
  PackedMatrix w;         // of [V, C]
  TensorView ids{};       // [R, k] i32 out
  TensorView logprobs{};  // [R, k] f32 out
  float temperature = 1.0f;
  Arena* scratch = nullptr;
  float softcap = 0.0f;  // CPU only
};
void lm_head_top(const Stream& stream, const LmHeadTopArgs& args);

/// Bytes of scratch that each of these takes at most for R rows: a chunk of logits and of ids, not [R, V]. `chunk`: of
/// LmHeadGradArgs; it means nothing on the CPU.
int64_t lm_head_scratch_bytes(const Stream& stream, int64_t rows, int64_t width, int64_t vocabulary,
                              int64_t chunk = kHeadGradientRows);

/// How one row is sampled: only ids below `vocabulary`, renormalised. Truncations apply in the order top-k, top-p,
/// min-p to the tempered distribution, renormalised after top-k; top-p keeps the smallest set with mass >= top_p,
/// including the crossing token; ties in probability keep the lower id. A non-finite row is not truncated.
struct SamplingParams {
  float temperature = 1.0f;  // >= 0; 0 = greedy, ties to the lowest id
  int32_t top_k = 0;         // 0 = off
  float top_p = 1.0f;        // (0, 1]
  float min_p = 0.0f;        // [0, 1): keep p >= min_p max p
  int32_t vocabulary = 0;    // 0 = all; later rows of w are padding, whose ids are never drawn

  /// Ids that may be drawn, of a head with V rows.
  HONE_HOST_DEVICE int32_t drawn_of(int64_t V) const { return vocabulary > 0 && vocabulary < V ? vocabulary : int32_t(V); }
};

/// Draws one token per row by the Gumbel-max trick with Philox words keyed by keys[r]:
///   token = argmax over kept v of z_v / temperature - log E_v,   E_v = -log((x_v + 1) 2^-32) ~ Exp(1)
/// (x_v = word v % 4 of block v / 4; log 0 counts as -88), ties to the lowest id. logprob is log p[token] of lm_head at
/// this temperature (greedy: 1) before truncation, which a trainer recomputes (docs/explanation/numerics.md).
/// The result of a row depends on its h, params and key only. Throws kConfig naming row and field of params
/// outside their ranges (CPU). CUDA draws with the same noise to the bit and cuts in fixed point: a mass within
/// 1e-7 of top_p, or a weight within 1e-7 of min_p, may fall on the other side than on the CPU.
struct LmHeadSampleArgs {
  TensorView h;                 // [R, C] f32 (CUDA bf16) in
  PackedMatrix w;               // of [V, C]
  const SamplingParams* params; // [R], in the tensors' memory
  const SampleKey* keys;        // [R], likewise
  TensorView tokens;            // [R] i32 out
  TensorView logprobs;          // [R] f32 out
  TensorView entropies;         // [R] f32 out, of the same distribution
  Arena* scratch = nullptr;
  float softcap = 0.0f;  // > 0: logits z become softcap tanh(z / softcap) before anything else. CPU only
};
void lm_head_sample(const Stream& stream, const LmHeadSampleArgs& args);

}  // namespace hone::kernels
