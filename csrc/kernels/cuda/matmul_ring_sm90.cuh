// Blocks that compute tile after tile on Hopper: one thread lets the copy engine (TMA) fill a ring of stages;
// groups of four warps multiply them (wgmma). `Tiles` says which tiles there are: count(), and at(index), whose
// calls for one index return the same in every thread; and kManyMatrices: whether the right operand is one of several
// matrices of a map.
#pragma once

#include "core/cuda/launch.cuh"
#include "kernels/cuda/cluster.cuh"
#include "kernels/cuda/matmul_stage_sm90.cuh"

namespace hone::kernels::cuda {

/// A tile of outputs, and where its operands lie in their maps.
struct TileWork {
  int64_t row, column;  // of the outputs; the right operand's first line is `column` too
  int64_t last_row;     // outputs from this row on are not stored
  Range depth;          // the range of k in both operands
  int line;             // the left operand's first line
  int matrix;           // the right operand's number, if its map is of several matrices
  const float* bias;    // of the outputs' columns, or null
};

/// Blocks that run at the same time on this device.
template <class T>
int resident_blocks() {
  static const int blocks = ::hone::cuda::device_attribute(cudaDevAttrMultiProcessorCount) * T::kBlocksPerProcessor;
  return blocks > 0 ? blocks : 1;
}

/// A ring's memory, and that of the barrier of masked rows.
template <class T>
inline constexpr size_t kRingBytes = Ring<T>::kBytes + sizeof(uint64_t);

/// On devices without wgmma the kernel's body is a trap; it is never launched there (device_is_sm90).
#ifdef __CUDA_ARCH_FEAT_SM90_ALL

inline constexpr int kStoredPairs = 16;  // number of pairs of sums that are stored at a time

/// Copies this block's part of the right operand to all blocks of the cluster.
template <class T>
__device__ __forceinline__ void copy_shared_part(unsigned char* to, const CUtensorMap& map, int line, int k, uint64_t* barrier) {
  constexpr int kPart = T::kColumns / T::kCluster;
  const int first = cluster_rank() * kPart;
  copy_box_to(to + hopper_byte(false, first, 0), map, k, line + first, barrier, (1 << T::kCluster) - 1);
}

/// kMany: the map is of several matrices, of which this copies from number `matrix`.
template <int kLines, Inside kInside, bool kMany>
__device__ __forceinline__ void copy_operand(unsigned char* to, const CUtensorMap& map, int line, int k, int matrix, uint64_t* barrier) {
  constexpr bool kLinesInside = kInside == Inside::kLines;
#pragma unroll
  for (int i = 0; i < kLines; i += kLinesInside ? 64 : kLines) {
    const int inner = kLinesInside ? line + i : k, outer = kLinesInside ? k : line;
    if constexpr (kMany) copy_box_of(to + hopper_byte(kLinesInside, i, 0), map, inner, outer, matrix, barrier);
    else copy_box(to + hopper_byte(kLinesInside, i, 0), map, inner, outer, barrier);
  }
}

/// Run by one thread: keeps the ring full, for all tiles of this block.
template <class T, Inside kA, Inside kB, class Tiles>
__device__ __forceinline__ void fill_ring(const Ring<T>& ring, const CUtensorMap& a, const CUtensorMap& b, const Tiles& tiles) {
  [[maybe_unused]] constexpr bool kMany = Tiles::kManyMatrices;
  RingPlace<T::kStages> at;
  const int64_t count = tiles.count();
  for (int64_t index = blockIdx.x / T::kCluster; index < count; index += gridDim.x / T::kCluster) {
    const TileWork work = tiles.at(index);
    for (int64_t k = work.depth.begin; k < work.depth.end; k += kHopperDepth, at.advance()) {
      uint64_t* const full = &ring.full[at.stage];
      barrier_wait(&ring.empty[at.stage], at.parity ^ 1);
      barrier_arrive_expecting(full, T::kStageBytes);
      copy_operand<T::kRows, kA, false>(ring.a(at.stage), a, work.line, int(k), 0, full);
      if constexpr (T::kCluster > 1) copy_shared_part<T>(ring.b(at.stage), b, int(work.column), int(k), full);
      else copy_operand<T::kColumns, kB, kMany>(ring.b(at.stage), b, int(work.column), int(k), work.matrix, full);
    }
  }
}

template <class T>
__device__ __forceinline__ void store_tile(Product p, const TileWork& work, int group, const float (&sums)[T::kColumns / 2]) {
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32 % 4;
  p.rows = work.last_row;
  p.out.bias = work.bias;
  const int64_t row = work.row + 64 * group + 16 * warp + sum_row(lane);
  store_sums<T::kColumns / 8, kStoredPairs>(p, p.out, row, work.column + sum_column(lane), [&](int j, int i) { return sums[4 * j + i]; });
}

/// Run by one lane of every warp that has finished with a stage: signals the copying thread of every block
/// that writes to this block's stages.
template <class T>
__device__ __forceinline__ void release_stage(const Ring<T>& ring, int stage) {
  if constexpr (T::kCluster == 1) {
    barrier_arrive(&ring.empty[stage]);
  } else {
#pragma unroll
    for (int rank = 0; rank < T::kCluster; ++rank) barrier_arrive_at(&ring.empty[stage], rank);
  }
}

/// Where all threads that multiply wait for each other's zeros.
template <class T>
__device__ __forceinline__ uint64_t* masked_barrier(const Ring<T>& ring) {
  return ring.empty + T::kStages;
}

/// Run by all threads that multiply: writes zeros over the rows of k from `live` on, in both operands of a stage,
/// whose lines are contiguous.
template <class T>
__device__ __forceinline__ void mask_stage(const Ring<T>& ring, int stage, int live, unsigned parity) {
  constexpr uint32_t kThreads = 128 * T::kGroups;
  for (uint32_t byte = (threadIdx.x - 128) * 16; byte < T::kStageBytes; byte += kThreads * 16) {
    if (int(byte % hopper_byte(true, 64, 0) / 128) >= live) *reinterpret_cast<uint4*>(ring.a(stage) + byte) = make_uint4(0, 0, 0, 0);
  }
  show_writes();
  barrier_arrive(masked_barrier(ring));
  barrier_wait(masked_barrier(ring), parity);
}

/// Run by a group of four warps: multiplies its 64 rows, for all tiles of the block. One product runs while
/// the group waits for the next stage.
template <class T, Inside kA, Inside kB, bool kMasked, class Tiles>
__device__ __forceinline__ void drain_ring(const Ring<T>& ring, const Tiles& tiles, int group) {
  const bool first_lane = threadIdx.x % 32 == 0;
  const Product& p = tiles.product();
  const int piece_steps = int(piece_of(p.depth, p.pieces, 0).end / kHopperDepth);
  RingPlace<T::kStages> at;
  [[maybe_unused]] unsigned masks = 0;  // number of stages masked so far
  float sums[T::kColumns / 2];
  [[maybe_unused]] float totals[T::kColumns / 2];
  const int64_t count = tiles.count();
  for (int64_t index = blockIdx.x / T::kCluster; index < count; index += gridDim.x / T::kCluster) {
    const TileWork work = tiles.at(index);
    const int depth = int(work.depth.end - work.depth.begin), steps = int(ceil_div(depth, kHopperDepth));
    if constexpr (T::kWalk) {
#pragma unroll
      for (float& total : totals) total = 0.0f;
    }
    int left = 0, held = -1;  // steps left in this piece; the stage that a running product may still read
    for (int step = 0; step < steps; ++step, at.advance()) {
      barrier_wait(&ring.full[at.stage], at.parity);
      if constexpr (kMasked) {
        const int live = depth - step * kHopperDepth;
        if (live < kHopperDepth) mask_stage<T>(ring, at.stage, live, masks++ & 1);
      }
      multiply_stage<T, kA, kB>(sums, ring, at.stage, group, T::kWalk ? left != 0 : step != 0);
      wgmma_wait<1>();
      if (held >= 0 && first_lane) release_stage(ring, held);
      held = at.stage;
      if constexpr (T::kWalk) {
        left = left == 0 ? piece_steps - 1 : left - 1;
        if (left != 0 && step + 1 != steps) continue;
        wgmma_wait<0>();
        wgmma_settle(sums);
#pragma unroll
        for (int i = 0; i < T::kColumns / 2; ++i) totals[i] += sums[i];
      }
    }
    wgmma_wait<0>();
    wgmma_settle(sums);
    if (first_lane) release_stage(ring, held);
    if constexpr (T::kWalk) store_tile<T>(p, work, group, totals);
    else store_tile<T>(p, work, group, sums);
  }
}

template <bool kMasked, class T>
__device__ __forceinline__ void start_ring(const Ring<T>& ring, const CUtensorMap& a, const CUtensorMap& b) {
  prefetch_map(a);
  prefetch_map(b);
  ring.make_barriers(T::kCluster);
  if constexpr (kMasked) barrier_init(masked_barrier(ring), 128 * T::kGroups);
  if constexpr (T::kCluster > 1) cluster_barriers_made();
  else barriers_made();
}

/// Run by a whole block of a kernel with kRingBytes<T> of dynamic shared memory: computes every gridDim.x-th tile, so
/// that one tile's output is written while the next tile's operands load. kMasked: the operands, whose lines are
/// contiguous, do not end where a tile's depth does; what lies beyond it counts as zeros.
template <class T, Inside kA, Inside kB, bool kMasked, class Tiles>
__device__ __forceinline__ void compute_tiles(const CUtensorMap& a, const CUtensorMap& b, const Tiles& tiles) {
  static_assert(!kMasked || (kA == Inside::kLines && kB == Inside::kLines), "rows of k are contiguous bytes");
  HONE_DYNAMIC_SHARED(unsigned char, shared);
  const Ring<T> ring(shared);
  if (threadIdx.x == 0) start_ring<kMasked>(ring, a, b);
  __syncthreads();
  // no block may copy before all blocks have initialised their barriers
  if constexpr (T::kCluster > 1) cluster_sync();
  if (threadIdx.x < 128) {
    give_registers_back<40>();
    if (threadIdx.x == 0) fill_ring<T, kA, kB>(ring, a, b, tiles);
  } else {
    take_registers<T::kTaken>();
    drain_ring<T, kA, kB, kMasked>(ring, tiles, group_of_warps() - 1);
  }
  __syncwarp();
  if constexpr (T::kCluster > 1) cluster_sync();  // no block may exit while another one still signals it
}

#endif

}  // namespace hone::kernels::cuda
