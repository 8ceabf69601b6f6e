// Shared by all attention kernels: tiles of 64 rows of keys and values in shared memory, and the tensor
// core's fragments of them. A warp has 16 query rows; lane l holds parts of rows l / 4 and l / 4 + 8.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>

#include "kernels/cuda/async.cuh"
#include "kernels/cuda/mma.cuh"
#include "kernels/cuda/reduce.cuh"

namespace hone::kernels::cuda {

using bf16 = __nv_bfloat16;

inline constexpr int kTileKeys = 64;
inline constexpr float kLog2E = 1.4426950408889634f;

/// How forward attention divides heads of up to kDim. A lane's registers hold its rows' sums of values for at
/// most 128 columns. With wider heads two blocks have the same rows: both compute the scores over all columns,
/// each sums one half of the columns of the values, its part. Tiles then have half as many keys, so that a
/// block fits the shared memory of every GPU.
template <int kDim>
struct Division {
  static constexpr int kParts = kDim > 128 ? 2 : 1;
  static constexpr int kColumns = kDim / kParts;
  static constexpr int kKeys = kTileKeys / kParts;
};

/// Two values as a bf16 pair, the one with the lower index in the lower half.
__device__ __forceinline__ uint32_t pack_pair(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  uint32_t bits;
  memcpy(&bits, &pair, sizeof bits);
  return bits;
}
__device__ __forceinline__ float low_of(uint32_t pair) { return __uint_as_float(pair << 16); }
__device__ __forceinline__ float high_of(uint32_t pair) { return __uint_as_float(pair & 0xffff0000u); }

/// Sum over the four lanes that hold parts of the same two rows.
__device__ __forceinline__ float quad_sum(float x) {
  x += __shfl_xor_sync(kFullWarp, x, 1);
  return x + __shfl_xor_sync(kFullWarp, x, 2);
}
__device__ __forceinline__ float quad_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(kFullWarp, x, 1));
  return fmaxf(x, __shfl_xor_sync(kFullWarp, x, 2));
}

// ---- rows in memory ------------------------------------------------------------------------------------

/// Two matrices with the same row layout: keys and values, or queries and output gradients.
struct PackedRows {
  const bf16 *a, *b;  // row 0
  int64_t a_stride, b_stride;

  __device__ __forceinline__ void locate(int row, const bf16** at_a, const bf16** at_b) const {
    *at_a = a + row * a_stride;
    *at_b = b + row * b_stride;
  }
};

/// A tile of a sequence's rows. Sequence s has the tile slots from cu_seqlens[s] / rows + s on, at least as
/// many as it has tiles of `rows` rows, so that a block finds its tile by a binary search, without a list.
struct TileOfSequence {
  int64_t start;  // of the sequence in the batch
  int length, first_row;
};
inline int64_t tile_slots(int64_t tokens, int64_t sequences, int rows) { return tokens / rows + sequences; }
__device__ __forceinline__ TileOfSequence find_tile(const int32_t* cu_seqlens, int sequences, int rows, int slot) {
  int low = 0, high = sequences - 1;  // finds the last sequence that starts at or before the slot
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (cu_seqlens[middle] / rows + middle <= slot) low = middle;
    else high = middle - 1;
  }
  const int start = cu_seqlens[low];
  return {start, cu_seqlens[low + 1] - start, (slot - (start / rows + low)) * rows};
}

/// First key that the row at `position` attends to; window 0: no window.
__device__ __forceinline__ int first_key(int position, int window) {
  return window > 0 && position >= window ? position - window + 1 : 0;
}

// ---- a tile in shared memory ---------------------------------------------------------------------------

/// Index of the first element of a row's 16-byte chunk. Chunks are permuted within each row, so that equal
/// chunks of eight rows lie in different banks.
template <int kDim>
__device__ __forceinline__ int at_chunk(int row, int chunk) {
  return row * kDim + (chunk ^ (row & 7)) * 8;
}

/// Starts copying rows [base, base + kRows) of both matrices to tiles. Rows outside [low, high] and columns
/// from `dim` on become zeros and are not read.
template <int kDim, int kThreads, int kRows = kTileKeys, class Rows>
__device__ __forceinline__ void load_tile(const Rows& rows, int base, int low, int high, int dim, bf16* tile_a,
                                          bf16* tile_b) {
  constexpr int kChunks = kDim / 8;
#pragma unroll
  for (int i = threadIdx.x; i < kRows * kChunks; i += kThreads) {
    const int inside = i / kChunks, chunk = i % kChunks, row = base + inside;
    const bool valid = row >= low && row <= high && chunk * 8 < dim;
    const bf16 *a, *b;
    rows.locate(valid ? row : low, &a, &b);
    const int column = valid ? chunk * 8 : 0, to = at_chunk<kDim>(inside, chunk);
    cp_async16(tile_a + to, a + column, valid);
    cp_async16(tile_b + to, b + column, valid);
  }
  cp_async_commit();
}

/// load_tile for keys, and for the columns of the values that are the block's part.
template <int kDim, int kThreads, class Rows>
__device__ __forceinline__ void load_keys(const Rows& rows, int base, int low, int high, int dim, int part,
                                          bf16* keys, bf16* values) {
  using D = Division<kDim>;
  if constexpr (D::kParts == 1) {
    load_tile<kDim, kThreads>(rows, base, low, high, dim, keys, values);
  } else {
    constexpr int kChunks = kDim / 8, kOwn = D::kColumns / 8;
#pragma unroll
    for (int i = threadIdx.x; i < D::kKeys * kChunks; i += kThreads) {
      const int inside = i / kChunks, chunk = i % kChunks, row = base + inside;
      const bool valid = row >= low && row <= high && chunk * 8 < dim;
      const bf16 *a, *b;
      rows.locate(valid ? row : low, &a, &b);
      const int column = valid ? chunk * 8 : 0;
      cp_async16(keys + at_chunk<kDim>(inside, chunk), a + column, valid);
      if (chunk / kOwn == part) cp_async16(values + at_chunk<D::kColumns>(inside, chunk % kOwn), b + column, valid);
    }
    cp_async_commit();
  }
}

/// Loads 16 tile rows from `row` on as columns of the right operand, at depth 16 kk; used for x . row.
template <int kDim>
__device__ __forceinline__ void load_columns(const bf16* tile, int row, int kk, uint32_t (&even)[2],
                                             uint32_t (&odd)[2]) {
  const int lane = threadIdx.x % 32;
  uint32_t r[4];
  ldmatrix_x4(r, tile + at_chunk<kDim>(row + lane % 8 + lane / 16 * 8, kk * 2 + lane / 8 % 2));
  even[0] = r[0], even[1] = r[1], odd[0] = r[2], odd[1] = r[3];
}
/// Loads 16 tile rows from `row` on as depth of the right operand, for columns [16 n, 16 n + 16); used for w
/// row.
template <int kDim>
__device__ __forceinline__ void load_rows(const bf16* tile, int row, int n, uint32_t (&even)[2], uint32_t (&odd)[2]) {
  const int lane = threadIdx.x % 32;
  uint32_t r[4];
  ldmatrix_x4_trans(r, tile + at_chunk<kDim>(row + lane % 8 + lane / 8 % 2 * 8, n * 2 + lane / 16));
  even[0] = r[0], even[1] = r[1], odd[0] = r[2], odd[1] = r[3];
}

// ---- a warp's 16 rows in registers ---------------------------------------------------------------------

/// Loads the lane's two rows as left operands; a null row, and columns from `dim` on, become zeros.
template <int kDim>
__device__ __forceinline__ void load_left(const bf16* row0, const bf16* row8, int dim, uint32_t (&x)[kDim / 16][4]) {
  const int column = threadIdx.x % 4 * 2;
#pragma unroll
  for (int kk = 0; kk < kDim / 16; ++kk) {
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      const bf16* row = part % 2 ? row8 : row0;
      const int d = kk * 16 + part / 2 * 8 + column;
      x[kk][part] = row && d < dim ? *reinterpret_cast<const uint32_t*>(row + d) : 0u;
    }
  }
}

/// Loads 16 rows of a tile from `row` on as a left operand, at depth 16 kk.
template <int kDim>
__device__ __forceinline__ void load_left(const bf16* tile, int row, int kk, uint32_t (&x)[4]) {
  const int lane = threadIdx.x % 32;
  ldmatrix_x4(x, tile + at_chunk<kDim>(row + lane % 16, kk * 2 + lane / 16));
}

/// sum += x tile^T for one step of depth: x has 16 rows, the tile rows are [row, row + 8 kBlocks).
template <int kDim, int kBlocks>
__device__ __forceinline__ void multiply_step(const uint32_t (&x)[4], const bf16* tile, int row, int kk,
                                              float (&sum)[kBlocks][4]) {
#pragma unroll
  for (int n = 0; n < kBlocks; n += 2) {
    uint32_t even[2], odd[2];
    load_columns<kDim>(tile, row + n * 8, kk, even, odd);
    mma_bf16_16816(sum[n], x, even);
    mma_bf16_16816(sum[n + 1], x, odd);
  }
}
/// multiply_step for all steps of depth, ascending; x is in registers, or is 16 rows of a tile.
template <int kDim, int kBlocks>
__device__ __forceinline__ void multiply_columns(const uint32_t (&x)[kDim / 16][4], const bf16* tile, int row,
                                                 float (&sum)[kBlocks][4]) {
#pragma unroll
  for (int kk = 0; kk < kDim / 16; ++kk) multiply_step<kDim>(x[kk], tile, row, kk, sum);
}
template <int kDim, int kBlocks>
__device__ __forceinline__ void multiply_columns(const bf16* left, int left_row, const bf16* tile, int row,
                                                 float (&sum)[kBlocks][4]) {
#pragma unroll
  for (int kk = 0; kk < kDim / 16; ++kk) {
    uint32_t x[4];
    load_left<kDim>(left, left_row, kk, x);
    multiply_step<kDim>(x, tile, row, kk, sum);
  }
}

/// Rounds columns 16 kk .. 16 kk + 15 of 16 rows of sums to bf16, as a left operand.
template <int kBlocks>
__device__ __forceinline__ void pack_left(const float (&w)[kBlocks][4], int kk, uint32_t (&left)[4]) {
#pragma unroll
  for (int part = 0; part < 4; ++part) {
    const float(&from)[4] = w[2 * kk + part / 2];
    left[part] = pack_pair(from[part % 2 * 2], from[part % 2 * 2 + 1]);
  }
}

/// sum += w tile, with w (16 rows, 8 kBlocks deep) rounded to bf16 and the tile rows from `row` on, in
/// ascending order; for the first 8 kSums columns of the tile, whose rows have kDim.
template <int kDim, int kBlocks, int kSums>
__device__ __forceinline__ void multiply_rows(const float (&w)[kBlocks][4], const bf16* tile, int row,
                                              float (&sum)[kSums][4]) {
#pragma unroll
  for (int kk = 0; kk < kBlocks / 2; ++kk) {
    uint32_t left[4];
    pack_left(w, kk, left);
#pragma unroll
    for (int n = 0; n < kSums / 2; ++n) {
      uint32_t even[2], odd[2];
      load_rows<kDim>(tile, row + kk * 16, n, even, odd);
      mma_bf16_16816(sum[2 * n], left, even);
      mma_bf16_16816(sum[2 * n + 1], left, odd);
    }
  }
}

/// Stores factor x sum to the lane's part of a row, columns [0, dim); `half` selects the first (0) or second
/// (1) of the lane's two rows.
template <int kDim>
__device__ __forceinline__ void store_row(const float (&sum)[kDim / 8][4], int half, float factor, int dim, bf16* to) {
  const int column = threadIdx.x % 4 * 2;
#pragma unroll
  for (int n = 0; n < kDim / 8; ++n) {
    if (n * 8 >= dim) continue;
    const uint32_t pair = pack_pair(sum[n][2 * half] * factor, sum[n][2 * half + 1] * factor);
    *reinterpret_cast<uint32_t*>(to + n * 8 + column) = pair;
  }
}

template <int kBlocks>
__device__ __forceinline__ void clear(float (&sum)[kBlocks][4]) {
#pragma unroll
  for (int n = 0; n < kBlocks; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) sum[n][i] = 0.0f;
}

}  // namespace hone::kernels::cuda
