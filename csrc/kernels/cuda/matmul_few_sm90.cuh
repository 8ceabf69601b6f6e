// Products of few rows on Hopper, whose speed reading the weights limits. A cluster of blocks computes a tile
// of 64 or 128 rows and 128 columns; each block multiplies one piece of k. Then each block adds some of the
// rows from the shared memory of all blocks, in ascending order of pieces, and passes them to the epilogue.
#pragma once

#include "core/cuda/launch.cuh"
#include "kernels/cuda/cluster.cuh"
#include "kernels/cuda/early.cuh"
#include "kernels/cuda/matmul_stage_sm90.cuh"
#include "kernels/cuda/vector.cuh"

namespace hone::kernels::cuda {

inline constexpr int kFewColumns = 128;
using Few64 = HopperTile<1, kFewColumns, 4, false>;    // two blocks of 96 KB per multiprocessor
// from 65 rows on; reads the weights half as often. 192 KB
using Few128 = HopperTile<2, kFewColumns, 6, false>;

// floats between rows of finished sums, so that a half-warp's pairs lie in different banks
inline constexpr int kFewPitch = 136;

/// The rows of the weights that a tile of 128 outputs uses: 64 from `low` on and 64 from `high` on.
struct FewColumns {
  int64_t low, high;
};

/// The sums of a tile's pieces, in the shared memory of the cluster's blocks.
struct FewSums {
  // [rows][kFewPitch] in this block's shared memory; other blocks have theirs at the same address
  const float* staged;
  int pieces;

  /// Sums eight consecutive values of a row over the pieces, ascending, starting from 0; a single piece is
  /// returned unchanged.
  __device__ __forceinline__ Eight at(int row, int column) const {
    constexpr int kAtOnce = 4;
    const float4* const mine = reinterpret_cast<const float4*>(staged + row * kFewPitch + column);
    Eight total = {};
    for (int first = 0; first < pieces; first += kAtOnce) {
      float4 part[kAtOnce][2];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (first + i >= pieces) continue;
        part[i][0] = load_peer(mine, first + i);
        part[i][1] = load_peer(mine + 1, first + i);
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (first + i >= pieces) continue;
        const float4 low = part[i][0], high = part[i][1];
        const float values[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
        for (int j = 0; j < 8; ++j) total.at[j] = pieces == 1 ? values[j] : total.at[j] + values[j];
      }
    }
    return total;
  }
};

/// On devices without wgmma the kernel's body is a trap; it is never launched there (device_is_sm90).
#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// Announces the bytes of a stage to its barrier, and starts copying the stage's weights.
template <class T>
__device__ __forceinline__ void fill_weights(const Ring<T>& ring, int stage, const CUtensorMap& b, int64_t k,
                                             const FewColumns& columns) {
  uint64_t* const full = &ring.full[stage];
  barrier_arrive_expecting(full, T::kStageBytes);
  copy_box(ring.b(stage), b, int(k), int(columns.low), full);
  copy_box(ring.b(stage) + T::kBBytes / 2, b, int(k), int(columns.high), full);
}

/// Run by one thread: starts filling the ring with weights; prefetchable ones even before the previous kernel
/// has ended.
template <class T>
__device__ __forceinline__ void fill_first_weights(const Ring<T>& ring, const CUtensorMap& b, const FewColumns& columns,
                                                   const Range& depth) {
  int64_t k = depth.begin;
  for (int stage = 0; stage < T::kStages && k < depth.end; ++stage, k += kHopperDepth) {
    fill_weights(ring, stage, b, k, columns);
  }
}

/// Run by the thread of fill_first_weights: copies the rest of the piece [depth.begin, depth.end) of k.
template <class T>
__device__ __forceinline__ void fill_few(const Ring<T>& ring, const CUtensorMap& a, const CUtensorMap& b, int row,
                                         const FewColumns& columns, const Range& depth) {
  RingPlace<T::kStages> at;
  const int64_t first_round = depth.begin + T::kStages * kHopperDepth;
  for (int64_t k = depth.begin; k < depth.end; k += kHopperDepth, at.advance()) {
    if (k >= first_round) {
      barrier_wait(&ring.empty[at.stage], at.parity ^ 1);
      fill_weights(ring, at.stage, b, k, columns);
    }
    copy_box(ring.a(at.stage), a, int(k), row, &ring.full[at.stage]);
  }
}

/// Run by a group of four warps: sums the piece for its 64 rows. One product runs while the group waits for
/// the next stage.
template <class T>
__device__ __forceinline__ void multiply_few(const Ring<T>& ring, int group, int steps, float (&sums)[kFewColumns / 2]) {
  const bool first_lane = threadIdx.x % 32 == 0;
  RingPlace<T::kStages> at;
  int held = -1;  // the stage that a running product may still read
  for (int step = 0; step < steps; ++step, at.advance()) {
    barrier_wait(&ring.full[at.stage], at.parity);
    multiply_stage<T, Inside::kDepth, Inside::kDepth>(sums, ring, at.stage, group, step != 0);
    wgmma_wait<1>();
    if (held >= 0 && first_lane) barrier_arrive(&ring.empty[held]);
    held = at.stage;
  }
  wgmma_wait<0>();
  wgmma_settle(sums);
}

__device__ __forceinline__ void stage_few(float* staged, int group, const float (&sums)[kFewColumns / 2]) {
  const int lane = int(threadIdx.x) % 32, row = 64 * group + int(threadIdx.x) / 32 % 4 * 16 + sum_row(lane);
  float* const to = staged + row * kFewPitch + sum_column(lane);
#pragma unroll
  for (int j = 0; j < kFewColumns / 8; ++j) {
    *reinterpret_cast<float2*>(to + 8 * j) = make_float2(sums[4 * j], sums[4 * j + 1]);
    *reinterpret_cast<float2*>(to + 8 * kFewPitch + 8 * j) = make_float2(sums[4 * j + 2], sums[4 * j + 3]);
  }
}

#endif

/// Epilogue: kLanes lanes share a row of the tile; columns(tile) gives the rows of the weights for a tile of
/// outputs; whole warps call finish(sums, row of the tile, row, tile, lane), with `row` -1 beyond the last
/// row.
template <class T, class Epilogue>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksPerProcessor)
    product_few_sm90_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, Product p,
                            int tiles, Epilogue epilogue) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  HONE_DYNAMIC_SHARED(unsigned char, shared);
  static_assert(T::kRows * kFewPitch * 4 <= T::kStages * T::kStageBytes, "sums take the place of the stages");
  const Ring<T> ring(shared);
  const int rank = cluster_rank();
  const TilePlace place = tile_place(blockIdx.x / unsigned(p.pieces), ceil_div(p.rows, T::kRows), tiles);
  const int first_row = int(place.row) * T::kRows, live = min(T::kRows, int(p.rows) - first_row);
  const Range depth = piece_of(p.depth, p.pieces, rank);
  const FewColumns columns = epilogue.columns(int(place.column));
  if (!p.prefetchable) await_predecessor();
  if (threadIdx.x == 0) {
    prefetch_map(a);
    ring.make_barriers();
    barriers_made();
    fill_first_weights(ring, b, columns, depth);
  }
  if (p.prefetchable) await_predecessor();
  __syncthreads();
  float* const staged = reinterpret_cast<float*>(ring.stages);
  const int group = group_of_warps() - 1;  // -1: the group that copies
  float sums[kFewColumns / 2];
  if (group >= 0) multiply_few(ring, group, int(ceil_div(depth.end - depth.begin, kHopperDepth)), sums);
  else if (threadIdx.x == 0) fill_few(ring, a, b, first_row, columns, depth);
  __syncthreads();  // every product has ended, so the memory of the stages is free
  if (group >= 0) stage_few(staged, group, sums);
  cluster_sync();
  const FewSums all{staged, p.pieces};
  constexpr int kSlots = T::kThreads / Epilogue::kLanes;
  for (int base = rank; base < live; base += kSlots * p.pieces) {
    const int row = base + int(threadIdx.x) / Epilogue::kLanes * p.pieces;
    epilogue.finish(all, row, row < live ? first_row + row : -1, int(place.column), int(threadIdx.x) % Epilogue::kLanes);
  }
  cluster_sync();  // no block may exit while another one reads its sums
#else
  __trap();  // machine code for another device: fails instead of computing nothing
#endif
}

/// Launches a kernel for `tiles` tiles of 128 outputs each; the product has at most 8 pieces.
template <class T, class Epilogue>
void launch_few_tiles(const Stream& stream, const Product& p, int64_t tiles, const Epilogue& epilogue) {
  const CUtensorMap a = operand_map(p.a, T::kRows, "the left operand");
  const CUtensorMap b = operand_map(p.b, kFewColumns / 2, "the right operand");
  const int64_t blocks = ceil_div(p.rows, T::kRows) * tiles * p.pieces;
  HONE_LAUNCH_AS((::hone::cuda::Launch{int(p.pieces), true}), (product_few_sm90_kernel<T, Epilogue>), unsigned(blocks),
                 T::kThreads, Ring<T>::kBytes, stream, a, b, p, int(tiles), epilogue);
}

template <class Epilogue>
void launch_few(const Stream& stream, const Product& p, int64_t tiles, const Epilogue& epilogue) {
  if (p.rows <= Few64::kRows) return launch_few_tiles<Few64>(stream, p, tiles, epilogue);
  launch_few_tiles<Few128>(stream, p, tiles, epilogue);
}

}  // namespace hone::kernels::cuda
