// Shared by the two kernels of packed forward attention (attention.cu, attention_sm90.cu): the arguments, a
// warp's query rows, and storing its output.
#pragma once

#include "kernels/cuda/attention_walk.cuh"

namespace hone::kernels::cuda {

struct PackedForward {
  const bf16 *q, *k, *v;
  int64_t q_stride, k_stride, v_stride;
  const int32_t* cu_seqlens;
  int sequences, group, dim, window;
  float scale;
  bf16* out;
  int64_t out_stride;
  float* lse;  // or null
  int64_t lse_stride;
  const float* sinks;  // [H] or null
};

/// A warp's 16 query rows of one head: their positions, the keys they read, and each lane's two rows as left
/// operands of mma.
template <int kDim>
struct QueryRows {
  WarpRows rows;
  KeyRange range;
  uint32_t q[kDim / 16][4];

  /// Loads the 16 rows that begin at row `first` of the tile's sequence; rows beyond its end are zeros and
  /// read no key.
  __device__ __forceinline__ void load(const PackedForward& a, const TileOfSequence& tile, int head, int first) {
    rows = {first, min(first + 15, tile.length - 1), a.window};
    const bf16* from[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int at = position(half);
      from[half] = at < tile.length ? a.q + (tile.start + at) * a.q_stride + int64_t(head) * a.dim : nullptr;
      range.first[half] = first_key(at, a.window);
      range.last[half] = at < tile.length ? at : -1;
    }
    load_left<kDim>(from[0], from[1], a.dim, q);
  }
  /// Completes the states; stores the rows' columns of the block's part, and with the first part their lse.
  __device__ __forceinline__ void store(const PackedForward& a, const TileOfSequence& tile, int head,
                                        RowStates<kDim>& s, int part = 0) const {
    constexpr int kColumns = Division<kDim>::kColumns;
    const int column = part * kColumns;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (range.last[half] < 0) continue;
      const int64_t token = tile.start + position(half);
      const float factor = finish_row(s.maximum[half], s.total[half], Exp2Scaled{a.scale * kLog2E}, a.sinks ? a.sinks + head : nullptr);
      store_row<kColumns>(s.out, half, factor, a.dim - column,
                          a.out + token * a.out_stride + int64_t(head) * a.dim + column);
      if (!a.lse || threadIdx.x % 4 || part > 0) continue;
      a.lse[token * a.lse_stride + head] = fmaf(s.maximum[half], a.scale, logf(s.total[half]));
    }
  }

 private:
  __device__ __forceinline__ int position(int half) const { return rows.first + int(threadIdx.x) % 32 / 4 + 8 * half; }
};

/// The tile of a block, in the grid of both kernels. The tiles at the ends of sequences come first, because
/// their rows have the most keys.
__device__ __forceinline__ TileOfSequence tile_of_block(const PackedForward& a, int tile_rows) {
  return find_tile(a.cu_seqlens, a.sequences, tile_rows, int(gridDim.x - 1 - blockIdx.x));
}

/// Runs the kernel of attention_sm90.cu. `args.dim` is 64 or 128; rows are 16-byte aligned.
void attention_packed_sm90(const Stream& stream, const PackedForward& args, int64_t tokens, int64_t heads);

}  // namespace hone::kernels::cuda
