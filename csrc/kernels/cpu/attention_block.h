// Arguments of the attention kernels: raw pointers, so that no inline code crosses instruction sets.
#pragma once

#include <cstdint>

#include "kernels/cpu/dispatch.h"

namespace hone::kernels::cpu {

/// Equals kAttentionSplit; repeated here because files for one instruction set may include no other header.
inline constexpr int64_t kKeySplit = 512;
/// Largest head dim, since the kernels keep a row of it on the stack.
inline constexpr int64_t kMaxHeadDim = 512;
/// Number of query rows whose probabilities, for one split of keys, the gradient stores at a time.
inline constexpr int64_t kGradPanel = 64;

/// Keys and values of one key/value head in blocks of 16 keys: keys [D][16], values 16 rows of D. E is float,
/// or uint16_t for bf16.
template <class E>
struct KeyBlocks {
  const E* k;            // block b at k + b 16 D, or inside its page
  const E* v;            // row j at v + j v_stride, or inside its page
  int64_t v_stride;
  const int32_t* pages;  // null: contiguous; else page ids, page_elements apart in both k and v
  int64_t page_blocks, page_elements;
};

/// Query rows [row_begin, row_end) of one packed sequence, for one key/value head and all query heads that
/// share it.
struct PackedHead {
  // row 0 of the sequence: q at the first query head of the group, k and v at the key/value head
  const float *q, *k, *v;
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

/// Rows of one head for the gradient of its sink.
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
/// Floats of `rows` keys in blocks of 16; transposing the last block writes up to 16 columns more.
inline constexpr int64_t blocked_floats(int64_t rows, int64_t head_dim) {
  return padded16(rows) * head_dim + 16 * 16;
}
/// Floats of scratch of PackedHead: keys in blocks and padded values.
inline constexpr int64_t packed_scratch(int64_t rows, int64_t head_dim) {
  return blocked_floats(rows, head_dim) + rows * padded16(head_dim);
}
/// Floats between the probabilities of two query rows; not a power of two, so that rows do not share cache
/// sets.
inline constexpr int64_t grad_stride(int64_t rows) {
  return (rows < kKeySplit ? padded16(rows) : kKeySplit) + 16;
}
/// Floats of scratch of PackedGradHead: keys and values in blocks; padded k, q, dout, dq, dk, dv; p and ds of
/// kGradPanel rows.
inline constexpr int64_t packed_grad_scratch(int64_t rows, int64_t head_dim) {
  return 2 * blocked_floats(rows, head_dim) + 6 * rows * padded16(head_dim) + 2 * kGradPanel * grad_stride(rows);
}

HONE_VARIANTS(void attend_packed(const PackedHead&));
HONE_VARIANTS(void attend_packed_grad(const PackedGradHead&));
HONE_VARIANTS(double sink_gradient(const SinkRows&));
HONE_VARIANTS(void attend_paged(const PagedRows&, int64_t begin, int64_t end));
HONE_VARIANTS(void write_kv(const KvWriteRows&));

}  // namespace hone::kernels::cpu
