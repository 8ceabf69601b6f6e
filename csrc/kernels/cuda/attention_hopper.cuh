// Tiles of 64 rows of keys, values, queries or output gradients in attention's Hopper kernels: the copy
// engine (TMA) loads them, wgmma multiplies them. A tile consists of consecutive boxes, each 64 elements
// wide, swizzled and 1024-byte aligned.
#pragma once

#include "kernels/cuda/attention_tile.cuh"
#include "kernels/cuda/operand_sm90.cuh"

namespace hone::kernels::cuda {

inline constexpr uint32_t kBoxBytes = kTileKeys * 128;
template <int kDim>
inline constexpr uint32_t kTileBytes = kDim / 64 * kBoxBytes;

/// Starts copying the 64 rows that begin at (row, column). Called by one thread.
template <int kDim>
__device__ __forceinline__ void copy_tile(unsigned char* tile, const CUtensorMap& map, int column, int row,
                                          uint64_t* barrier) {
#pragma unroll
  for (int box = 0; box < kDim / 64; ++box) {
    copy_box(tile + box * kBoxBytes, map, column + box * 64, row, barrier);
  }
}

/// Overwrites the rows from `first` on of a loaded tile with zeros, which wgmma then reads. Called by a whole
/// warp.
template <int kDim>
__device__ __forceinline__ void clear_rows(unsigned char* tile, int first) {
#pragma unroll
  for (int box = 0; box < kDim / 64; ++box) {
    for (uint32_t byte = first * 128 + threadIdx.x % 32 * 16; byte < kBoxBytes; byte += 32 * 16) {
      *reinterpret_cast<uint4*>(tile + box * kBoxBytes + byte) = uint4{0, 0, 0, 0};
    }
  }
  show_writes();
  __syncwarp();
}

// ---- products by a group of four warps; the caller fences before and waits after -------------------------

/// The sums as one array, in the order of wgmma's registers.
template <int kBlocks>
__device__ __forceinline__ float (&flat(float (&sum)[kBlocks][4]))[4 * kBlocks] {
  return reinterpret_cast<float(&)[4 * kBlocks]>(sum);
}

/// Rounds a tile of weights to bf16, as the left operands of the four steps (16 deep) of a product with a
/// tile's rows.
__device__ __forceinline__ void pack_tile(const float (&w)[8][4], uint32_t (&left)[4][4]) {
#pragma unroll
  for (int kk = 0; kk < 4; ++kk) pack_left(w, kk, left[kk]);
}

/// wgmma descriptor of columns 16 kk .. 16 kk + 15 of a tile, read with columns as depth and rows as lines:
/// the tile's descriptor plus a constant.
__device__ __forceinline__ uint64_t depth_of_columns(uint64_t tile, int kk) {
  return tile + ((kk / 4 * kBoxBytes + kk % 4 * hopper_step(false)) >> 4);
}

/// Starts sum = x tile^T, ascending in the head dim; x is in registers, or is also a tile.
template <int kDim>
__device__ __forceinline__ void start_scores(const uint32_t (&x)[kDim / 16][4], const unsigned char* tile,
                                             float (&sum)[8][4]) {
  const uint64_t lines = operand_descriptor(false, tile);
#pragma unroll
  for (int kk = 0; kk < kDim / 16; ++kk) wgmma_bf16<0>(flat(sum), x[kk], depth_of_columns(lines, kk), kk != 0);
  wgmma_commit();
}
template <int kDim>
__device__ __forceinline__ void start_scores(const unsigned char* x, const unsigned char* tile, float (&sum)[8][4]) {
  const uint64_t left = operand_descriptor(false, x), right = operand_descriptor(false, tile);
#pragma unroll
  for (int kk = 0; kk < kDim / 16; ++kk) {
    wgmma_bf16<0, 0>(flat(sum), depth_of_columns(left, kk), depth_of_columns(right, kk), kk != 0);
  }
  wgmma_commit();
}

/// Starts the asynchronous product sum += w * tile (wgmma), which adds the tile's rows in ascending order.
template <int kDim>
__device__ __forceinline__ void start_sums(const uint32_t (&w)[4][4], const unsigned char* tile,
                                           float (&sum)[kDim / 8][4]) {
  const uint64_t depth = operand_descriptor(true, tile);
#pragma unroll
  for (int kk = 0; kk < 4; ++kk) {
    wgmma_bf16<1>(flat(sum), w[kk], deeper(depth, true, kk), 1);
  }
  wgmma_commit();
}

}  // namespace hone::kernels::cuda
