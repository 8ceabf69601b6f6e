// Scratch memory of the CUDA kernels: functions of shapes only, so that a build without CUDA can compute it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/arena.h"
#include "kernels/attention.h"
#include "kernels/delta_rule.h"
#include "kernels/cuda/matmul_plan.h"

namespace hone::kernels::cuda {

// Sizes of types in scratch memory; static_asserts next to the types check them.
inline constexpr int64_t kTileSumsBytes = 16, kCandidateBytes = 12, kPagedItemBytes = 16;

inline int64_t linear_scratch_bytes(int64_t rows, int64_t n, int64_t k) {
  const int pieces = fixed_split_k(n, k);
  return pieces == 1 ? 0 : Arena::rounded(pieces * std::min(rows, kFewRows) * n * 4);
}

// ---- output head --------------------------------------------------------------------------------------

// Rows whose statistics are computed at a time: enough to fill the GPU with blocks.
inline constexpr int64_t kHeadChunk = 2048;
// Rows of a decode step in one launch, so that the weights are read once.
inline constexpr int64_t kSampleChunk = 256;
// Vocabulary ids, or columns of dh, per block.
inline constexpr int kHeadOutputs = 128;

/// Floats between rows of logits or their gradients: a multiple of 8, so that rows are 16-byte aligned in
/// bf16 too.
inline int64_t logit_pitch(int64_t vocabulary) { return (vocabulary + 7) / 8 * 8; }
inline int head_tiles(int64_t outputs) { return int((outputs + kHeadOutputs - 1) / kHeadOutputs); }

/// `chunk`: number of rows whose gradient is computed at a time (LmHeadGradArgs::chunk).
inline int64_t lm_head_scratch_bytes(int64_t rows, int64_t vocabulary, int64_t chunk) {
  const int64_t tiles = head_tiles(vocabulary), pitch = logit_pitch(vocabulary);
  const int64_t drawn = std::min(rows, kSampleChunk);
  const int64_t statistics = Arena::rounded(std::min(rows, kHeadChunk) * tiles * kTileSumsBytes);
  const int64_t gradient = Arena::rounded(std::min(rows, chunk) * pitch * 2);
  const int64_t sampler = Arena::rounded(drawn * tiles * kTileSumsBytes) +
                          Arena::rounded(drawn * tiles * kCandidateBytes) + Arena::rounded(drawn * pitch * 4);
  return std::max({statistics, gradient, sampler});
}

// Number of rows whose f32 logits are in memory at a time to be compared with a teacher's.
inline constexpr int64_t kTaughtRows = 256;

/// has_head: the teacher's logits are in memory too.
inline int64_t divergence_scratch_bytes(int64_t rows, int64_t vocabulary, bool has_head) {
  return (has_head ? 2 : 1) * Arena::rounded(std::min(rows, kTaughtRows) * logit_pitch(vocabulary) * 4);
}

// ---- norms and attention ------------------------------------------------------------------------------

inline constexpr int64_t kNormStrip = 32;  // number of rows over which one partial sum of dweight runs

inline constexpr int kNormFan = 128;       // number of partial sums that one block adds
inline int64_t norm_fans(int64_t strips) { return ceil_div(strips, kNormFan); }

inline int64_t rms_norm_grad_scratch_bytes(int64_t rows, int64_t width) {
  const int64_t strips = ceil_div(rows, kNormStrip), fans = norm_fans(strips);
  return Arena::rounded(strips * width * 4) + (fans > 1 ? Arena::rounded(fans * width * 8) : 0);
}

inline int64_t attention_packed_grad_scratch_bytes(int64_t tokens, int64_t heads) {
  return Arena::rounded(tokens * heads * 4);
}

// Limit of the per-split row states in a step; for further rows one block processes all keys.
inline constexpr int64_t kPagedPartials = 4096;

/// Number of per-split states of all rows, at most kPagedPartials.
inline int64_t paged_partials(int64_t rows, int64_t tokens) {
  return std::min(kPagedPartials, rows * ((tokens + kAttentionSplit - 1) / kAttentionSplit));
}
/// Limit of the number of items: a row has one, or at most as many as it has per-split states.
inline int64_t paged_items(int64_t rows, int64_t partials) { return rows + partials; }

/// Offsets of the parts of a paged step's memory, and its end: items, their count, each row's index of
/// states, number of finished splits per row and key head, sums of values, maxima and totals.
struct PagedLayout {
  int64_t items = 0, count, row_partial, done, out, terms, end;
};
inline PagedLayout paged_layout(int64_t rows, int64_t heads, int64_t kv_heads, int64_t dim, int64_t partials) {
  PagedLayout at;
  at.count = Arena::rounded(paged_items(rows, partials) * kPagedItemBytes);
  at.row_partial = at.count + Arena::rounded(4);
  at.done = at.row_partial + Arena::rounded(rows * 4);
  at.out = at.done + Arena::rounded(rows * kv_heads * 4);
  at.terms = at.out + Arena::rounded(partials * heads * dim * 4);
  at.end = at.terms + Arena::rounded(partials * heads * 2 * 4);
  return at;
}

inline int64_t attention_paged_scratch_bytes(int64_t rows, int64_t heads, int64_t kv_heads, int64_t head_dim,
                                             int64_t tokens) {
  return paged_layout(rows, heads, kv_heads, head_dim, paged_partials(rows, tokens)).end;
}

// ---- gated DeltaNet and short convolution -------------------------------------------------------------

/// Number of rows over which one partial sum of the gradient of a convolution's weights runs.
inline constexpr int64_t kConvStrip = 64;
/// Floats of those sums.
inline int64_t conv_sums(int64_t rows, int64_t channels, int64_t taps) { return ceil_div(rows, kConvStrip) * channels * taps; }

/// The backward keeps a state every kDeltaChunk rows of a sequence, and within a chunk one every kDeltaStep rows.
inline constexpr int64_t kDeltaChunk = 64, kDeltaStep = 8;
/// Columns of a state that a warp of the backward has, and a block; floats of a warp's kept state, whatever the number of its rows.
inline constexpr int64_t kDeltaWarpColumns = 4, kDeltaBlockColumns = 64, kDeltaWarpFloats = kMostCudaDeltaDim * kDeltaWarpColumns;
/// Number of blocks of the backward recurrence at most: a few for every multiprocessor of the largest GPUs.
inline constexpr int64_t kDeltaGradBlocks = 264;

inline int64_t delta_slices(const DeltaSizes& s) { return ceil_div(s.value_dim, kDeltaBlockColumns); }
inline int64_t delta_grad_blocks(int64_t rows, const DeltaSizes& s) { return std::min(kDeltaGradBlocks, rows * s.value_heads * delta_slices(s)); }
inline int64_t delta_mark_floats(int64_t rows, const DeltaSizes& s) {
  return rows / kDeltaChunk * s.value_heads * ceil_div(s.value_dim, kDeltaWarpColumns) * kDeltaWarpFloats;
}
inline int64_t delta_step_floats(int64_t rows, const DeltaSizes& s) {
  const int64_t warps = ceil_div(std::min(s.value_dim, kDeltaBlockColumns), kDeltaWarpColumns);
  return delta_grad_blocks(rows, s) * (kDeltaChunk / kDeltaStep) * warps * kDeltaWarpFloats;
}

inline int64_t delta_rule_scratch_bytes(int64_t rows, const DeltaSizes& s) {
  return Arena::rounded(rows * s.channels() * 4) + Arena::rounded(rows * 2 * s.key_heads * 4) + Arena::rounded(rows * 2 * s.value_heads * 4);
}

inline int64_t delta_rule_grad_scratch_bytes(int64_t rows, const DeltaSizes& s) {
  const int64_t floats[] = {rows * s.values(), delta_mark_floats(rows, s), delta_step_floats(rows, s),
                            rows * 2 * s.value_heads * delta_slices(s) * s.key_dim, rows * 2 * s.value_heads * delta_slices(s), ceil_div(rows, kNormStrip) * s.values(), conv_sums(rows, s.channels(), s.taps)};
  int64_t bytes = delta_rule_scratch_bytes(rows, s);
  for (const int64_t n : floats) bytes += Arena::rounded(n * 4);
  return bytes;
}

// ---- optimizer ----------------------------------------------------------------------------------------

/// Number of values that one block sums (a strip), and number of strips of n values.
inline constexpr int64_t kOptimizerStrip = 16384;
inline int64_t optimizer_strips(int64_t n) { return (n + kOptimizerStrip - 1) / kOptimizerStrip; }
/// Scratch bytes of the f64 sums of n values' strips.
inline int64_t strip_bytes(int64_t n) { return Arena::rounded(optimizer_strips(n) * 8); }

/// Bytes of the matrices of a Newton-Schulz iteration.
inline int64_t newton_schulz_bytes(int64_t rows, int64_t columns) {
  const int64_t n = rows * columns, square = std::min(rows, columns) * std::min(rows, columns);
  return Arena::rounded(n * 4) + Arena::rounded(n * 2) + 2 * Arena::rounded(square * 4) + 2 * Arena::rounded(square * 2);
}

inline int64_t muon_scratch_bytes(int64_t rows, int64_t columns) {
  const int64_t side = std::min(rows, columns), length = std::max(rows, columns);
  const int64_t products =
      std::max(linear_scratch_bytes(length, side, length), linear_scratch_bytes(length, side, side));
  return newton_schulz_bytes(rows, columns) + strip_bytes(rows * columns) + Arena::rounded(8) + products;
}

}  // namespace hone::kernels::cuda
