// Epilogues of products of few rows on Hopper: storing y; norm, rotary embedding and storing of heads to KV
// pages; an MLP's gated values. Each has the bits of the op that otherwise follows the product.
#pragma once

#include "kernels/cuda/heads.cuh"
#include "kernels/cuda/matmul_few_sm90.cuh"
#include "kernels/cuda/swiglu.cuh"

namespace hone::kernels::cuda {

inline constexpr int kTileColumns = kFewColumns;

__device__ __forceinline__ FewColumns whole_tile(int tile) {
  return {int64_t(tile) * kTileColumns, int64_t(tile) * kTileColumns + kTileColumns / 2};
}

/// v + bias for outputs [column, column + 8).
__device__ __forceinline__ Eight with_bias(Eight v, const float* bias, int64_t column, int64_t left) {
  if (!bias) return v;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (i < left) v.at[i] += bias[column + i];
  }
  return v;
}

__device__ __forceinline__ Eight rounded(Eight v) {
#pragma unroll
  for (int i = 0; i < 8; ++i) v.at[i] = to_f32(__float2bfloat16_rn(v.at[i]));
  return v;
}

/// Stores rows of y, as store_pairs does.
struct RowsOfY {
  static constexpr int kLanes = kTileColumns / 8;
  Output out;
  int64_t columns_of_y;
  bool wide;

  __device__ __forceinline__ FewColumns columns(int tile) const { return whole_tile(tile); }
  template <class T>
  __device__ __forceinline__ void store(Eight v, int64_t row, int64_t column, int64_t left) const {
    T* const to = static_cast<T*>(out.data) + row * out.stride + column;
    if (out.accumulate) {
      const Eight old = load_eight(to, left, wide);
#pragma unroll
      for (int i = 0; i < 8; ++i) v.at[i] += old.at[i];
    }
    store_eight(to, v, left, wide);
  }
  __device__ __forceinline__ void finish(const FewSums& sums, int inside, int64_t row, int tile, int lane) const {
    const int64_t column = int64_t(tile) * kTileColumns + lane * 8, left = columns_of_y - column;
    if (row < 0 || left <= 0) return;
    const Eight v = with_bias(sums.at(inside, lane * 8), out.bias, column, left);
    if (out.bf16) store<bf16>(v, row, column, left);
    else store<float>(v, row, column, left);
  }
};

/// Stores gate(first half) x second half of y, 64 outputs of each half per tile, and y itself if `halves` is
/// not null.
template <class Gate>
struct GatedRows {
  static constexpr int kLanes = kTileColumns / 16;
  bf16 *halves, *y;  // halves: null if not wanted
  int64_t halves_stride, y_stride, width;
  bool wide;

  __device__ __forceinline__ FewColumns columns(int tile) const {
    return {int64_t(tile) * kTileColumns / 2, width + int64_t(tile) * kTileColumns / 2};
  }
  __device__ __forceinline__ void finish(const FewSums& sums, int inside, int64_t row, int tile, int lane) const {
    const int64_t column = int64_t(tile) * kTileColumns / 2 + lane * 8, left = width - column;
    if (row < 0 || left <= 0) return;
    Eight gate = rounded(sums.at(inside, lane * 8));
    const Eight up = rounded(sums.at(inside, kTileColumns / 2 + lane * 8));
    if (halves) {
      store_eight(halves + row * halves_stride + column, gate, left, wide);
      store_eight(halves + row * halves_stride + width + column, up, left, wide);
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) gate.at[i] = gated<Gate>(gate.at[i], up.at[i]);
    store_eight(y + row * y_stride + column, gate, left, wide);
  }
};

/// Runs prepare_heads for fully rotated heads whose dim divides the tile; also stores q, k and v to y, as the
/// product would.
struct PlacedHeads {
  static constexpr int kLanes = kTileColumns / 8;
  Heads heads;
  const float* bias;
  int64_t width;  // total columns of q, k and v

  __device__ __forceinline__ FewColumns columns(int tile) const { return whole_tile(tile); }

  /// Sum over the dim / 8 neighbouring lanes of a head; same bits as warp_sum with zeros in the other lanes.
  __device__ __forceinline__ float head_sum(float squares) const {
    for (int distance = heads.dim / 16; distance > 0; distance /= 2) squares += __shfl_xor_sync(kFullWarp, squares, distance);
    return squares;
  }
  /// Applies rotary embedding to the lane's eight values, whose partners are half a head away.
  __device__ __forceinline__ Eight turned(const Eight& x, int64_t row, int at) const {
    const int half = heads.dim / 2;
    Eight other, out;
#pragma unroll
    for (int i = 0; i < 8; ++i) other.at[i] = __shfl_xor_sync(kFullWarp, x.at[i], heads.dim / 16);
    if (row < 0) return x;
    const float* const angles = heads.table + heads.positions[row] * heads.table_stride + (at < half ? at : at - half);
    const Eight cosine = load_vector(angles), sine = load_vector(angles + half);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float u = at < half ? x.at[i] : other.at[i], v = at < half ? other.at[i] : x.at[i];
      out.at[i] = at < half ? u * cosine.at[i] - v * sine.at[i] : v * cosine.at[i] + u * sine.at[i];
    }
    return out;
  }
  __device__ __forceinline__ void finish(const FewSums& sums, int inside, int64_t row, int tile, int lane) const {
    const int column = tile * kTileColumns + lane * 8, head = column / heads.dim, at = column % heads.dim;
    if (column >= width) row = -1;
    Eight value = {};
    if (row >= 0) value = rounded(with_bias(sums.at(inside, lane * 8), bias, column, 8));
    const bool is_query = head < heads.heads, is_value = head >= heads.heads + heads.kv_heads;
    if (heads.q_norm) {
      const float squares = head_sum(squares_of(value));
      if (row >= 0 && !is_value) value = normed(heads, value, is_query ? heads.q_norm : heads.k_norm, at, squares);
    }
    const Eight rotated = turned(value, row, at);
    if (row < 0) return;
    if (!is_value) value = rotated;
    store_vector(heads.qk + row * heads.qk_stride + column, value);
    if (is_query || !heads.keys) return;
    const int key_head = head - heads.heads - (is_value ? heads.kv_heads : 0);
    bf16* const to = place_of(heads, is_value ? heads.values : heads.keys, row, key_head);
    if (to) store_vector(to + at, value);
  }
};

}  // namespace hone::kernels::cuda
