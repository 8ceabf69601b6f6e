// Shared by the implementations of the gradient of packed attention (attention_grad.cu, attention_grad_wide.cu,
// attention_grad_sm90.cu): the arguments, and the query rows that a lane holds in registers while the kernel
// iterates over their keys.
#pragma once

#include "core/stream.h"
#include "kernels/cuda/attention_tile.cuh"

namespace hone::kernels::cuda {

struct PackedGrad {
  const bf16 *q, *k, *v, *out, *dout;
  int64_t q_stride, k_stride, v_stride, out_stride, dout_stride;
  const float* lse;
  int64_t lse_stride;
  const int32_t* cu_seqlens;
  int sequences, heads, group, dim, window;
  float scale;
  float* delta;  // [T, H]: dout . out of each row; the dq kernel writes it for the dk, dv kernel
  bf16 *dq, *dk, *dv;
  int64_t dq_stride, dk_stride, dv_stride;
};

/// What the terms of each score of a row need: p = exp2(scale log2(e) q.k - lse), ds = p (dout.v - delta).
struct RowTerms {
  float lse = 0.0f, delta = 0.0f;  // lse in base 2
};
__device__ __forceinline__ RowTerms row_terms(const PackedGrad& a, int64_t token, int head) {
  return {a.lse[token * a.lse_stride + head] * kLog2E, a.delta[token * a.heads + head]};
}

/// Turns a score and dout.v into p and ds.
__device__ __forceinline__ void score_gradient(float scale_log2, RowTerms row, bool visible, float& score,
                                               float& slope) {
  const float p = visible ? exp2_normal(fmaf(score, scale_log2, -row.lse)) : 0.0f;
  slope = visible ? p * (slope - row.delta) : 0.0f;
  score = p;
}

/// Last row of a sequence of `length` rows that attends to the key; window 0: no window.
__device__ __forceinline__ int last_row(int key, int window, int length) {
  return (window > 0 && window < length - key ? key + window : length) - 1;
}

template <int kDim>
__device__ __forceinline__ float dot_left(const uint32_t (&x)[kDim / 16][4], const uint32_t (&y)[kDim / 16][4],
                                          int half) {
  float sum = 0.0f;
#pragma unroll
  for (int kk = 0; kk < kDim / 16; ++kk)
#pragma unroll
    for (int part = half; part < 4; part += 2) {
      sum = fmaf(low_of(x[kk][part]), low_of(y[kk][part]), sum);
      sum = fmaf(high_of(x[kk][part]), high_of(y[kk][part]), sum);
    }
  return quad_sum(sum);
}

/// The two rows of one head that a lane holds, as left operands of mma.
template <int kDim>
struct GradRows {
  int position[2];  // -1: beyond the sequence's end; then all values are 0
  uint32_t q[kDim / 16][4], dout[kDim / 16][4];
  RowTerms terms[2];

  /// Loads rows `row` and `row` + 8 of the tile's sequence, and writes their delta.
  __device__ __forceinline__ void load(const PackedGrad& a, const TileOfSequence& tile, int head, int row) {
    const int64_t column = int64_t(head) * a.dim;
    const bf16 *q_row[2], *dout_row[2], *out_row[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const bool valid = row + 8 * half < tile.length;
      const int64_t token = tile.start + row + 8 * half;
      position[half] = valid ? row + 8 * half : -1;
      q_row[half] = valid ? a.q + token * a.q_stride + column : nullptr;
      dout_row[half] = valid ? a.dout + token * a.dout_stride + column : nullptr;
      out_row[half] = valid ? a.out + token * a.out_stride + column : nullptr;
    }
    load_left<kDim>(out_row[0], out_row[1], a.dim, q);
    load_left<kDim>(dout_row[0], dout_row[1], a.dim, dout);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      terms[half].delta = dot_left<kDim>(q, dout, half);
      if (position[half] < 0) continue;
      const int64_t token = tile.start + position[half];
      terms[half].lse = a.lse[token * a.lse_stride + head] * kLog2E;
      if (threadIdx.x % 4 == 0) a.delta[token * a.heads + head] = terms[half].delta;
    }
    load_left<kDim>(q_row[0], q_row[1], a.dim, q);
  }
  __device__ __forceinline__ void store(const PackedGrad& a, const TileOfSequence& tile, int head,
                                        const float (&dq)[kDim / 8][4]) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (position[half] < 0) continue;
      bf16* const to = a.dq + (tile.start + position[half]) * a.dq_stride + int64_t(head) * a.dim;
      store_row<kDim>(dq, half, a.scale, a.dim, to);
    }
  }
};

/// Stores the gradients of keys `key` and `key` + 8 of the tile's sequence, for one key head.
template <int kDim>
__device__ __forceinline__ void store_keys(const PackedGrad& a, const TileOfSequence& tile, int kv_head, int key,
                                           const float (&dk)[kDim / 8][4], const float (&dv)[kDim / 8][4]) {
  const int64_t column = int64_t(kv_head) * a.dim;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int64_t token = tile.start + key + 8 * half;
    if (key + 8 * half >= tile.length) continue;
    store_row<kDim>(dk, half, a.scale, a.dim, a.dk + token * a.dk_stride + column);
    store_row<kDim>(dv, half, 1.0f, a.dim, a.dv + token * a.dv_stride + column);
  }
}

/// Runs the kernels of attention_grad_sm90.cu for `tokens` rows; args.dim is 64 or 128.
void attention_packed_grad_sm90(const Stream& stream, int64_t tokens, const PackedGrad& args);

/// Runs the kernels of attention_grad_wide.cu for `slots` tile slots of 64 rows (tile_slots); args.dim is above
/// 128, at most 256.
void attention_packed_grad_wide(const Stream& stream, int64_t slots, int64_t kv_heads, const PackedGrad& args);

}  // namespace hone::kernels::cuda
