// Arguments of the attention kernels: raw pointers, so that no inline code crosses instruction sets.
#pragma once

#include <cstdint>

#include "kernels/cpu/dispatch.h"

namespace hone::kernels::cpu {

/// Equals kAttentionSplit; repeated so that the instruction-set files include no other header.
inline constexpr int64_t kKeySplit = 512;
/// Widest head the kernels keep a row of on the stack.
inline constexpr int64_t kMaxHeadDim = 256;
/// Number of query rows whose probabilities the gradient holds at a time (times one split of keys).
inline constexpr int64_t kGradPanel = 64;

/// One key/value head as blocks of 16 keys: keys [D][16], values 16 rows of D; E is float, or uint16_t for bf16.
template <class E>
struct KeyBlocks {
  const E* k;            // block b at k + b 16 D, or inside its page
  const E* v;            // row j at v + j v_stride, or inside its page
  int64_t v_stride;
  const int32_t* pages;  // null: contiguous; else page ids, page_elements apart in both k and v
  int64_t page_blocks, page_elements;
};

/// Query rows [row_begin, row_end) of one packed sequence against one key/value head, all its query heads.
struct PackedHead {
  const float *q, *k, *v;  // row 0 of the sequence, first query head of the group / the kv head
  int64_t q_stride, k_stride, v_stride;
  float* out;
  int64_t out_stride;
  float* lse;  // or null
  int64_t lse_stride;
  int64_t row_begin, row_end, group, head_dim, window;
  float scale, softcap;
  float* scratch;      // packed_scratch floats, 64-byte aligned
  const float* sinks;  // of the group's heads, or null
};

struct PackedGradHead {
  const float *q, *k, *v, *out, *lse, *dout;
  int64_t q_stride, k_stride, v_stride, out_stride, lse_stride, dout_stride;
  float *dq, *dk, *dv;
  int64_t dq_stride, dk_stride, dv_stride;
  int64_t rows, group, head_dim, window;
  float scale, softcap;
  float* scratch;  // packed_grad_scratch floats, 64-byte aligned
};

struct PagedRows {
  const float* q;
  int64_t q_stride;
  const int32_t *row_sequence, *row_position, *block_tables;
  int64_t table_stride;
  const void *keys, *values;
  bool bf16;
  int64_t page_tokens, kv_heads, group, head_dim, window;
  float* out;
  int64_t out_stride;
  float scale, softcap;
  const float* sinks;  // of all heads, or null
};

/// One head's rows.
struct SinkRows {
  const float *out, *dout, *lse;
  int64_t out_stride, dout_stride, lse_stride;
  int64_t rows, head_dim;
  float sink;
};

struct KvWriteRows {
  const float *k, *v;
  int64_t k_stride, v_stride;
  const int32_t *row_sequence, *row_position, *block_tables;
  int64_t table_stride;
  void *keys, *values;
  bool bf16;
  int64_t page_tokens, kv_heads, head_dim, rows;
};

inline constexpr int64_t blocks16(int64_t n) { return (n + 15) / 16; }
inline constexpr int64_t padded16(int64_t n) { return blocks16(n) * 16; }
/// Floats of keys in blocks; transposing the last block writes a width rounded up to 16.
inline constexpr int64_t blocked_floats(int64_t rows, int64_t head_dim) {
  return padded16(rows) * head_dim + 16 * 16;
}
/// Floats of blocked keys and padded values.
inline constexpr int64_t packed_scratch(int64_t rows, int64_t head_dim) {
  return blocked_floats(rows, head_dim) + rows * padded16(head_dim);
}
/// Distance of two query rows' probabilities: off a power of two, so that they do not share cache sets.
inline constexpr int64_t grad_stride(int64_t rows) {
  return (rows < kKeySplit ? padded16(rows) : kKeySplit) + 16;
}
/// Floats of blocked keys and values; padded k, q, dout, dq, dk, dv; p and ds of a panel.
inline constexpr int64_t packed_grad_scratch(int64_t rows, int64_t head_dim) {
  return 2 * blocked_floats(rows, head_dim) + 6 * rows * padded16(head_dim) + 2 * kGradPanel * grad_stride(rows);
}

HONE_VARIANTS(void attend_packed(const PackedHead&));
HONE_VARIANTS(void attend_packed_grad(const PackedGradHead&));
HONE_VARIANTS(double sink_gradient(const SinkRows&));
HONE_VARIANTS(void attend_paged(const PagedRows&, int64_t begin, int64_t end));
HONE_VARIANTS(void write_kv(const KvWriteRows&));

}  // namespace hone::kernels::cpu
