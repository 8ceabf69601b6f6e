// Arguments and steps of the kernels that apply norm and rotary embedding to heads and write them to KV
// pages.
#pragma once

#include "kernels/attention.h"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/vector.cuh"

namespace hone::kernels::cuda {

struct Heads {
  bf16* qk;
  const bf16* v;
  int64_t qk_stride, v_stride, items;
  // turned: number of rotated dimensions. Items of a row: heads of q and k, and of v if there are pages
  int heads, kv_heads, dim, turned;
  const float *q_norm, *k_norm;
  float eps, norm_offset;
  const int32_t* positions;
  const float* table;
  int64_t table_stride;
  bool wide;  // half of the rotated dimensions is a multiple of a vector's eight values
  bool interleaved;
  bf16 *keys, *values;  // null: no pages
  const int32_t *row_sequence, *row_position, *block_tables;
  int64_t block_stride;
  int page_tokens;
};

/// Address in `pages` of head `head` of `row`; null for a padding row.
__device__ __forceinline__ bf16* place_of(const Heads& a, bf16* pages, int64_t row, int head) {
  const int sequence = a.row_sequence[row];
  if (sequence < 0) return nullptr;
  const int position = a.row_position[row];
  const int64_t page = a.block_tables[sequence * a.block_stride + position / a.page_tokens];
  return pages + ((page * a.kv_heads + head) * a.page_tokens + position % a.page_tokens) * a.dim;
}

/// Sum of squares of the values of a head that a lane holds.
__device__ __forceinline__ float squares_of(const Eight& x) {
  float squares = 0.0f;
#pragma unroll
  for (int i = 0; i < 8; ++i) squares = fmaf(x.at[i], x.at[i], squares);
  return squares;
}

/// Applies the RMS norm to values of a head, those from index `at` on: x / rms(x) w, rounded to bf16;
/// `squares` is the head's sum of squares.
__device__ __forceinline__ Eight normed(const Heads& a, Eight x, const float* weight, int at, float squares) {
  const float scale = 1.0f / sqrtf(squares / float(a.dim) + a.eps);
  const Eight w = load_eight(weight + at, a.dim - at, false);
#pragma unroll
  for (int i = 0; i < 8; ++i) x.at[i] = to_f32(__float2bfloat16_rn(x.at[i] * scale * (w.at[i] + a.norm_offset)));
  return x;
}

Heads heads_of(const PrepareHeadsArgs& args);

}  // namespace hone::kernels::cuda
