// Matrix products on Hopper: one warp lets the copy engine (TMA) fill a ring of stages; groups of four warps
// multiply them (wgmma). Pieces of k and their order are those of the portable kernels, but wgmma rounds
// differently, so a process uses only one of the two kinds of kernels (cuda::uses_wgmma).
#include <algorithm>

#include "core/cuda/launch.cuh"
#include "kernels/cuda/cluster.cuh"
#include "kernels/cuda/matmul_stage_sm90.cuh"

namespace hone::kernels::cuda {
namespace {

// Tile sizes are chosen by calculation, not yet by measurement: 192 KB are loading at a time. Few rows have
// their own kernels (matmul_few_sm90.cu).
// many rows, k in pieces: 64 sums and 64 totals per thread; clusters of two blocks
using Walk = HopperTile<2, 128, 6, true, 2>;
using Many = HopperTile<2, 256, 4, false>;   // many rows, k in one piece: 128 sums per thread

/// On devices without wgmma the kernel's body is a trap; it is never launched there (device_is_sm90).
#ifdef __CUDA_ARCH_FEAT_SM90_ALL

constexpr int kPairs = 16;  // number of pairs of sums that are stored at a time

/// The block's work number `index`; the blocks of a cluster divide the rows of a taller tile.
template <class T>
__device__ __forceinline__ BlockWork block_work(const Product& p, int64_t index) {
  BlockWork work = work_of(index, p.rows, p.columns, p.pieces, p.spread, T::kRows * T::kCluster, T::kColumns);
  if constexpr (T::kCluster > 1) work.row += cluster_rank() * T::kRows;
  return work;
}

/// Copies this block's part of the right operand to all blocks of the cluster.
template <class T>
__device__ __forceinline__ void copy_shared_part(unsigned char* to, const CUtensorMap& map, int line, int k, uint64_t* barrier) {
  constexpr int kPart = T::kColumns / T::kCluster;
  const int first = cluster_rank() * kPart;
  copy_box_to(to + hopper_byte(false, first, 0), map, k, line + first, barrier, (1 << T::kCluster) - 1);
}

template <int kLines, Inside kInside>
__device__ __forceinline__ void copy_operand(unsigned char* to, const CUtensorMap& map, int line, int k,
                                             uint64_t* barrier) {
  if constexpr (kInside == Inside::kDepth) {
    copy_box(to, map, k, line, barrier);
  } else {
#pragma unroll
    for (int i = 0; i < kLines; i += 64) copy_box(to + hopper_byte(true, i, 0), map, line + i, k, barrier);
  }
}

/// Run by one thread: keeps the ring full, for all work of this block.
template <class T, Inside kA, Inside kB>
__device__ __forceinline__ void fill_ring(const Ring<T>& ring, const CUtensorMap& a, const CUtensorMap& b,
                                          const Product& p, int64_t blocks) {
  RingPlace<T::kStages> at;
  for (int64_t index = blockIdx.x / T::kCluster; index < blocks; index += gridDim.x / T::kCluster) {
    const BlockWork work = block_work<T>(p, index);
    const Range depth = depth_of(p.depth, p.pieces, work);
    for (int64_t k = depth.begin; k < depth.end; k += kHopperDepth, at.advance()) {
      barrier_wait(&ring.empty[at.stage], at.parity ^ 1);
      barrier_arrive_expecting(&ring.full[at.stage], T::kStageBytes);
      copy_operand<T::kRows, kA>(ring.a(at.stage), a, int(work.row), int(k), &ring.full[at.stage]);
      if constexpr (T::kCluster > 1) copy_shared_part<T>(ring.b(at.stage), b, int(work.column), int(k), &ring.full[at.stage]);
      else copy_operand<T::kColumns, kB>(ring.b(at.stage), b, int(work.column), int(k), &ring.full[at.stage]);
    }
  }
}

template <class T>
__device__ __forceinline__ void store_tile(const Product& p, const BlockWork& work, int group,
                                           const float (&sums)[T::kColumns / 2]) {
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32 % 4;
  const Output out = output_of(p, work);
  const int64_t row = work.row + 64 * group + 16 * warp + sum_row(lane);
  store_sums<T::kColumns / 8, kPairs>(p, out, row, work.column + sum_column(lane),
                              [&](int j, int i) { return sums[4 * j + i]; });
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

/// Run by a group of four warps: multiplies its 64 rows, for all work of the block. One product runs while
/// the group waits for the next stage.
template <class T, Inside kA, Inside kB>
__device__ __forceinline__ void drain_ring(const Ring<T>& ring, const Product& p, int64_t blocks, int group) {
  const bool first_lane = threadIdx.x % 32 == 0;
  const int piece_steps = int(piece_of(p.depth, p.pieces, 0).end / kHopperDepth);
  RingPlace<T::kStages> at;
  float sums[T::kColumns / 2];
  [[maybe_unused]] float totals[T::kColumns / 2];
  for (int64_t index = blockIdx.x / T::kCluster; index < blocks; index += gridDim.x / T::kCluster) {
    const BlockWork work = block_work<T>(p, index);
    const Range depth = depth_of(p.depth, p.pieces, work);
    const int steps = int(ceil_div(depth.end - depth.begin, kHopperDepth));
    if constexpr (T::kWalk) {
#pragma unroll
      for (float& total : totals) total = 0.0f;
    }
    int left = 0, held = -1;  // steps left in this piece; the stage that a running product may still read
    for (int step = 0; step < steps; ++step, at.advance()) {
      barrier_wait(&ring.full[at.stage], at.parity);
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

#endif

template <class T>
HONE_HOST_DEVICE int64_t cluster_tiles(const Product& p) {
  return blocks_of(p.rows, p.columns, p.pieces, p.spread, T::kRows * T::kCluster, T::kColumns);
}

/// Matrix product with persistent blocks: each computes every gridDim.x-th tile, so that one tile's output is
/// written while the next tile's operands load.
template <class T, Inside kA, Inside kB>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksPerProcessor)
    product_sm90_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, Product p) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  HONE_DYNAMIC_SHARED(unsigned char, shared);
  const Ring<T> ring(shared);
  if (threadIdx.x == 0) {
    prefetch_map(a);
    prefetch_map(b);
    ring.make_barriers(T::kCluster);
    if constexpr (T::kCluster > 1) cluster_barriers_made();
    else barriers_made();
  }
  __syncthreads();
  // no block may copy before all blocks have initialised their barriers
  if constexpr (T::kCluster > 1) cluster_sync();
  const int64_t blocks = cluster_tiles<T>(p);
  if (threadIdx.x < 128) {
    give_registers_back<40>();
    if (threadIdx.x == 0) fill_ring<T, kA, kB>(ring, a, b, p, blocks);
  } else {
    take_registers<232>();
    drain_ring<T, kA, kB>(ring, p, blocks, group_of_warps() - 1);
  }
  __syncwarp();
  if constexpr (T::kCluster > 1) cluster_sync();  // no block may exit while another one still signals it
#else
  __trap();  // machine code for another device: fails instead of computing nothing
#endif
}

template <class T, Inside kA, Inside kB>
void launch_sm90(const Stream& stream, const Product& p) {
  static_assert(T::kCluster == 1 || kB == Inside::kDepth, "a part of the right operand is a box");
  static_assert(!T::kWalk || T::kColumns <= 128, "sums and totals share 232 registers");
  const CUtensorMap a = operand_map(p.a, kA == Inside::kDepth ? T::kRows : 64, "the left operand");
  const CUtensorMap b = operand_map(p.b, kB == Inside::kDepth ? T::kColumns / T::kCluster : 64, "the right operand");
  static const int resident =
      ::hone::cuda::device_attribute(cudaDevAttrMultiProcessorCount) * T::kBlocksPerProcessor / T::kCluster;
  const auto clusters = unsigned(std::min<int64_t>(cluster_tiles<T>(p), std::max(resident, 1)));
  if constexpr (T::kCluster > 1) {
    HONE_LAUNCH_AS((::hone::cuda::Launch{T::kCluster}), (product_sm90_kernel<T, kA, kB>), clusters * T::kCluster, T::kThreads, Ring<T>::kBytes,
                         stream, a, b, p);
  } else {
    HONE_LAUNCH((product_sm90_kernel<T, kA, kB>), clusters, T::kThreads, Ring<T>::kBytes, stream, a, b, p);
  }
}

}  // namespace

bool device_is_sm90() {
  static const bool is = ::hone::cuda::device_attribute(cudaDevAttrComputeCapabilityMajor) == 9 &&
                         ::hone::cuda::device_attribute(cudaDevAttrComputeCapabilityMinor) == 0;
  return is;
}

void multiply_sm90(const Stream& stream, const Product& p, Inside a, Inside b) {
  constexpr Inside kDepth = Inside::kDepth, kLines = Inside::kLines;
  if (a == kLines) return launch_sm90<Many, kLines, kLines>(stream, p);
  if (b == kLines) return launch_sm90<Many, kDepth, kLines>(stream, p);
  if (p.pieces > 1) return launch_sm90<Walk, kDepth, kDepth>(stream, p);
  launch_sm90<Many, kDepth, kDepth>(stream, p);
}

}  // namespace hone::kernels::cuda
