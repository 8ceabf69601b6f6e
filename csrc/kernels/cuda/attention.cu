// Packed forward attention: 128 query rows of one head per block, 16 per warp. Keys and values come once from memory
// per block, the diagonal's tiles alone are masked.
#include "kernels/cuda/attention.h"

#include "core/cuda/launch.cuh"
#include "kernels/cuda/attention_walk.cuh"

namespace hone::kernels::cuda {
namespace {

constexpr int kWarps = 8, kThreads = kWarps * 32, kTileRows = kWarps * 16;

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
};

template <int kDim>
__device__ __forceinline__ void store_packed(const PackedForward& a, int64_t token, int head, int half,
                                             const RowStates<kDim>& state) {
  store_row<kDim>(state.out, half, 1.0f / state.total[half], a.dim,
                  a.out + token * a.out_stride + int64_t(head) * a.dim);
  if (!a.lse || threadIdx.x % 4) return;
  a.lse[token * a.lse_stride + head] = fmaf(state.maximum[half], a.scale, logf(state.total[half]));
}

/// Long tiles first: a sequence's last rows have the most keys.
template <int kDim>
__global__ void __launch_bounds__(kThreads, 1) attention_packed_kernel(PackedForward a) {
  HONE_DYNAMIC_SHARED(bf16, shared);
  const TileOfSequence tile = find_tile(a.cu_seqlens, a.sequences, kTileRows, int(gridDim.x - 1 - blockIdx.x));
  if (tile.first_row >= tile.length) return;
  const int head = blockIdx.y, kv_head = head / a.group, high = min(tile.first_row + kTileRows, tile.length) - 1;
  const PackedRows keys{a.k + tile.start * a.k_stride + int64_t(kv_head) * a.dim,
                        a.v + tile.start * a.v_stride + int64_t(kv_head) * a.dim, a.k_stride, a.v_stride};
  const int warp_row = tile.first_row + int(threadIdx.x) / 32 * 16, row = warp_row + int(threadIdx.x) % 32 / 4;
  const bf16* q_rows[2];
  KeyRange range;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int position = row + 8 * half;
    const bool valid = position < tile.length;
    q_rows[half] = valid ? a.q + (tile.start + position) * a.q_stride + int64_t(head) * a.dim : nullptr;
    range.first[half] = first_key(position, a.window);
    range.last[half] = valid ? position : -1;
  }
  uint32_t q[kDim / 16][4];
  load_left<kDim>(q_rows[0], q_rows[1], a.dim, q);
  const WarpRows rows{warp_row, min(warp_row + 15, high), a.window};
  RowStates<kDim> state;
  walk_keys<kDim, kThreads>(keys, first_key(tile.first_row, a.window), high, a.dim, rows, q, range,
                            Exp2Scaled{a.scale * kLog2E}, shared, state);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    if (q_rows[half]) store_packed<kDim>(a, tile.start + row + 8 * half, head, half, state);
  }
}

template <int kDim>
void launch_packed(const Stream& stream, dim3 grid, const PackedForward& args) {
  constexpr size_t shared = walk_shared_bytes<kDim, kThreads>();
  HONE_LAUNCH((attention_packed_kernel<kDim>), grid, kThreads, shared, stream, args);
}

}  // namespace

void attention_packed(const Stream& stream, const AttentionPackedArgs& a) {
  const int64_t tokens = a.q.dim(0), heads = a.q.dim(1), dim = a.q.dim(2), sequences = a.cu_seqlens.dim(0) - 1;
  const PackedForward args{a.q.as<bf16>(), a.k.as<bf16>(), a.v.as<bf16>(), a.q.row_stride, a.k.row_stride,
                           a.v.row_stride, a.cu_seqlens.as<int32_t>(), int(sequences), int(heads / a.k.dim(1)),
                           int(dim), a.window, a.scale, a.out.as<bf16>(), a.out.row_stride,
                           a.lse.empty() ? nullptr : a.lse.as<float>(), a.lse.row_stride};
  const dim3 grid(unsigned(tile_slots(tokens, sequences, kTileRows)), unsigned(heads));
  if (dim <= 64) launch_packed<64>(stream, grid, args);
  else launch_packed<128>(stream, grid, args);
}

}  // namespace hone::kernels::cuda
