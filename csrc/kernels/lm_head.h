// The f32 output head: log-probs, entropy, gradient and sampling, without storing logits [T, V].
//
// On CUDA h and dh are bf16 and widths multiples of 8; w is row-major [V, C], in f32 (split on the fly into
// three bf16 parts, so that products are exact) or bf16; scratch is required. Values in device memory are not
// checked: the caller must refuse, on the host, targets outside the vocabulary and params outside their
// ranges.
// Cost per row: 2 C V FLOP per pass; three passes for statistics or sampling (with bf16 weights one), four
// for a gradient (three). Bytes: sampling reads the weights once per 256 rows; a gradient needs 6 V bytes of
// dz per row.
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
/// R rows, C width, V vocabulary. Rows are processed in chunks; a row's bits do not depend on other rows, and
/// equal those of lm_head_sample for equal h and temperature, whatever truncation it uses. Throws kShape
/// naming the row if a target is outside [0, V) (CPU), kConfig unless temperature > 0, kUnsupported for dh on
/// CUDA.
struct LmHeadArgs {
  TensorView h;         // [R, C] f32 (CUDA bf16) in
  PackedMatrix w;       // of [V, C]
  TensorView targets;   // [R] i32 in
  TensorView logprobs;  // [R] f32 out
  TensorView entropies; // [R] f32 out
  TensorView lse;       // [R] f32 out
  float temperature = 1.0f;
  Arena* scratch = nullptr;  // lm_head_scratch_bytes taken and released; null: allocates (CPU)
  float softcap = 0.0f;  // > 0: logits z are replaced by softcap tanh(z / softcap). CPU only
  /// If dh is not empty, the op also writes dlogprob_r/dh_r to it, from which scale_rows makes dLoss/dh_r.
  /// This replaces pass 2 if the head is frozen and no row has an entropy term or a teacher: two products
  /// over the vocabulary instead of three. CPU only.
  PackedMatrix w_t{};  // packed transpose [C, V]; needed for dh
  TensorView dh{};     // [R, C] f32 out
};
void lm_head(const Stream& stream, const LmHeadArgs& args);

inline constexpr int64_t kHeadGradientRows = 2048;

/// Pass 2. Recomputes z by chunks. For any objective, given by its per-row coefficients a_r =
/// dLoss/dlogprob_r and b_r = dLoss/dentropy_r:
///   dz = [ a (onehot(target) - p) - b p (log p + entropy) ] / temperature,   dh = dz W,   dW += dz^T h
/// With a teacher it also writes each row's divergence, and adds slope ddivergence/dz to dz. dW is summed in
/// ascending row order, on CUDA one sum per chunk of rows. Throws kConfig unless chunk > 0.
/// Source: architecture §5.4.
struct LmHeadGradArgs {
  TensorView h;          // [R, C] f32 (CUDA bf16) in
  PackedMatrix w;        // of [V, C]
  PackedMatrix w_t;      // packed transpose [C, V]; CUDA reads w instead
  TensorView targets;    // [R] i32 in
  TensorView lse;        // [R] f32 in, from pass 1
  TensorView entropies;  // [R] f32 in, from pass 1
  TensorView a, b;       // [R] f32 in; b empty: no entropy term
  TensorView dh;         // [R, C] f32 (CUDA bf16) out
  TensorView dw;         // [V, C] f32 accumulated; empty: not computed
  float temperature = 1.0f;
  Arena* scratch = nullptr;
  /// CUDA: number of rows whose dz is in memory at a time; scratch must suffice for them. Each chunk reads
  /// and writes all of dw, and dW's bits depend on the chunk, so it must never depend on free memory.
  int64_t chunk = kHeadGradientRows;
  float softcap = 0.0f;  // > 0: logits z are replaced by softcap tanh(z / softcap). CPU only
  const Divergence* teacher = nullptr;
  TensorView slopes{};       // [R] f32 in, dLoss/ddivergence
  TensorView divergences{};  // [R] f32 out
};
void lm_head_grad(const Stream& stream, const LmHeadGradArgs& args);

/// Multiplies row r of dh [R, C] f32 by a[r] (f32 [R]), in place. CPU only.
void scale_rows(const Stream& stream, const TensorView& a, const TensorView& dh);

/// The k likeliest tokens of each row by descending log-prob, the smaller id first if equal, and their
/// log-probs, which equal those of lm_head. Throws kConfig unless k is in [1, V].
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

/// Limit of the scratch bytes that each op of this file takes for R rows: a chunk of logits and of ids, not
/// [R, V]. `chunk`: LmHeadGradArgs::chunk; ignored on the CPU.
int64_t lm_head_scratch_bytes(const Stream& stream, int64_t rows, int64_t width, int64_t vocabulary,
                              int64_t chunk = kHeadGradientRows);

/// How one row is sampled: only ids below `vocabulary`, renormalised. Truncations apply, in the order top-k,
/// top-p, min-p, to the distribution at this temperature, which is renormalised after top-k. top-p keeps the
/// smallest set with mass >= top_p, including the token that crosses it; among equal probabilities lower ids
/// are kept. A row with non-finite logits is not truncated.
struct SamplingParams {
  float temperature = 1.0f;  // >= 0; 0: greedy, the lowest id if logits are equal
  int32_t top_k = 0;         // 0: off
  float top_p = 1.0f;        // (0, 1]
  float min_p = 0.0f;        // [0, 1): keep p >= min_p max p
  int32_t vocabulary = 0;    // 0: all; rows of w from this one on are padding, whose ids are never sampled

  /// Number of ids that may be sampled, for a head with V rows.
  HONE_HOST_DEVICE int32_t drawn_of(int64_t V) const { return vocabulary > 0 && vocabulary < V ? vocabulary : int32_t(V); }
};

/// Samples one token per row by the Gumbel-max trick, with Philox words keyed by keys[r]:
///   token = argmax over kept v of z_v / temperature - log E_v,   E_v = -log((x_v + 1) 2^-32) ~ Exp(1)
/// (x_v = word v % 4 of block v / 4; log 0 counts as -88), the lowest id if values are equal. logprob is
/// lm_head's log p[token] at this temperature (greedy: 1) before truncation, which a trainer recomputes
/// (docs/explanation/numerics.md). The result of a row depends only on its h, params and key. Throws kConfig
/// naming row and field of params outside their ranges (CPU). CUDA's noise has the same bits; it truncates in
/// fixed point, so that a mass within 1e-7 of top_p, or a weight within 1e-7 of min_p, may be judged
/// differently than on the CPU.
struct LmHeadSampleArgs {
  TensorView h;                 // [R, C] f32 (CUDA bf16) in
  PackedMatrix w;               // of [V, C]
  const SamplingParams* params; // [R], in the memory of the tensors
  const SampleKey* keys;        // [R], in the memory of the tensors
  TensorView tokens;            // [R] i32 out
  TensorView logprobs;          // [R] f32 out
  TensorView entropies;         // [R] f32 out, of the distribution that logprob refers to
  Arena* scratch = nullptr;
  float softcap = 0.0f;  // > 0: logits z are replaced by softcap tanh(z / softcap). CPU only
};
void lm_head_sample(const Stream& stream, const LmHeadSampleArgs& args);

}  // namespace hone::kernels
