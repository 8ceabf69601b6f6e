// Products on Hopper: one warp uses the copy engine to fill a ring of stages; groups of four warps multiply them
// (wgmma). Same Product, same pieces of k, same order as the portable kernels; the instruction rounds differently, so a
// process uses one of the two for all shapes (cuda::uses_wgmma).
#include <algorithm>

#include "core/cuda/launch.cuh"
#include "kernels/cuda/matmul_product.cuh"
#include "kernels/cuda/tma_ring.cuh"
#include "kernels/cuda/tma_map.h"
#include "kernels/cuda/wgmma.cuh"

namespace hone::kernels::cuda {
namespace {

/// 64 kGroups x kColumns outputs; kWalk: pieces of k are added up in registers of their own.
template <int kGroups_, int kColumns_, int kStages_, bool kWalk_>
struct HopperTile {
  static constexpr int kGroups = kGroups_, kRows = 64 * kGroups_, kColumns = kColumns_, kStages = kStages_;
  static constexpr bool kWalk = kWalk_;
  static constexpr int kThreads = 128 * (kGroups + 1), kBlocksPerProcessor = kGroups == 1 ? 2 : 1;
  static constexpr int kPairs = kGroups == 1 ? 8 : 16;  // finished at a time; 128 registers have no room for more
  static constexpr uint32_t kABytes = kRows * 128, kBBytes = kColumns * 128, kStageBytes = kABytes + kBBytes;
};

// Chosen by arithmetic, not yet measured: 192 KB in flight, or two blocks of 96 KB to read weights with.
using Few = HopperTile<1, 128, 4, false>;    // few rows
using Walk = HopperTile<2, 128, 6, true>;    // many rows, k in pieces: 64 sums and 64 totals a thread
using Many = HopperTile<2, 256, 4, false>;   // many rows: 128 sums a thread

/// The body is a trap without wgmma: such a device never calls it (device_is_sm90).
#ifdef __CUDA_ARCH_FEAT_SM90_ALL

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

/// Run by one thread: keeps the ring full, for every block of work of this block.
template <class T, Inside kA, Inside kB>
__device__ __forceinline__ void fill_ring(const Ring<T>& ring, const CUtensorMap& a, const CUtensorMap& b,
                                          const Product& p, int64_t blocks) {
  RingPlace<T::kStages> at;
  for (int64_t index = blockIdx.x; index < blocks; index += gridDim.x) {
    const BlockWork work = work_of(index, p.rows, p.columns, p.pieces, p.spread, T::kRows, T::kColumns);
    const Range depth = depth_of(p.depth, p.pieces, work);
    for (int64_t k = depth.begin; k < depth.end; k += kHopperDepth, at.advance()) {
      barrier_wait(&ring.empty[at.stage], at.parity ^ 1);
      barrier_arrive_expecting(&ring.full[at.stage], T::kStageBytes);
      copy_operand<T::kRows, kA>(ring.a(at.stage), a, int(work.row), int(k), &ring.full[at.stage]);
      copy_operand<T::kColumns, kB>(ring.b(at.stage), b, int(work.column), int(k), &ring.full[at.stage]);
    }
  }
}

/// One stage: four products of 16 k. `add` 0 starts the sums from zero.
template <class T, Inside kA, Inside kB>
__device__ __forceinline__ void multiply_stage(float (&sums)[T::kColumns / 2], const Ring<T>& ring, int stage,
                                               int group, int add) {
  constexpr bool kLinesA = kA == Inside::kLines, kLinesB = kB == Inside::kLines;
  const uint32_t a = shared_address(ring.a(stage)) + hopper_byte(kLinesA, 64 * group, 0);
  const uint32_t b = shared_address(ring.b(stage));
  wgmma_fence();
#pragma unroll
  for (int i = 0; i < kHopperDepth / 16; ++i) {
    wgmma_bf16<kLinesA, kLinesB>(sums, hopper_descriptor(kLinesA, a + i * hopper_step(kLinesA)),
                                 hopper_descriptor(kLinesB, b + i * hopper_step(kLinesB)), i == 0 ? add : 1);
  }
  wgmma_commit();
}

template <class T>
__device__ __forceinline__ void store_tile(const Product& p, const BlockWork& work, int group,
                                           const float (&sums)[T::kColumns / 2]) {
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32 % 4;
  const Output out = output_of(p, work);
  const int64_t row = work.row + 64 * group + 16 * warp + sum_row(lane);
  store_sums<T::kColumns / 8, T::kPairs>(p, out, row, work.column + sum_column(lane),
                              [&](int j, int i) { return sums[4 * j + i]; });
}

/// A group of four warps: 64 rows of every block of work. One product stays in flight while the next stage is awaited.
template <class T, Inside kA, Inside kB>
__device__ __forceinline__ void drain_ring(const Ring<T>& ring, const Product& p, int64_t blocks, int group) {
  const bool first_lane = threadIdx.x % 32 == 0;
  const int piece_steps = int(piece_of(p.depth, p.pieces, 0).end / kHopperDepth);
  RingPlace<T::kStages> at;
  float sums[T::kColumns / 2];
  [[maybe_unused]] float totals[T::kColumns / 2];
  for (int64_t index = blockIdx.x; index < blocks; index += gridDim.x) {
    const BlockWork work = work_of(index, p.rows, p.columns, p.pieces, p.spread, T::kRows, T::kColumns);
    const Range depth = depth_of(p.depth, p.pieces, work);
    const int steps = int(ceil_div(depth.end - depth.begin, kHopperDepth));
    if constexpr (T::kWalk) {
#pragma unroll
      for (float& total : totals) total = 0.0f;
    }
    int left = 0, held = -1;  // steps of this piece to come; the stage that a product may still read
    for (int step = 0; step < steps; ++step, at.advance()) {
      barrier_wait(&ring.full[at.stage], at.parity);
      multiply_stage<T, kA, kB>(sums, ring, at.stage, group, T::kWalk ? left != 0 : step != 0);
      wgmma_wait<1>();
      if (held >= 0 && first_lane) barrier_arrive(&ring.empty[held]);
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
    if (first_lane) barrier_arrive(&ring.empty[held]);
    if constexpr (T::kWalk) store_tile<T>(p, work, group, totals);
    else store_tile<T>(p, work, group, sums);
  }
}

#endif

/// Persistent blocks: each takes every gridDim.x-th tile, so that one tile's output is written while the next one's
/// operands arrive.
template <class T, Inside kA, Inside kB>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksPerProcessor)
    product_sm90_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, Product p) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  HONE_DYNAMIC_SHARED(unsigned char, shared);
  const Ring<T> ring(shared);
  if (threadIdx.x == 0) {
    ring.make_barriers();
    barriers_made();
  }
  __syncthreads();
  const int64_t blocks = blocks_of(p.rows, p.columns, p.pieces, p.spread, T::kRows, T::kColumns);
  if (threadIdx.x < 128) {
    if constexpr (T::kGroups == 2) give_registers_back<40>();
    if (threadIdx.x == 0) fill_ring<T, kA, kB>(ring, a, b, p, blocks);
  } else {
    if constexpr (T::kGroups == 2) take_registers<232>();
    drain_ring<T, kA, kB>(ring, p, blocks, int(threadIdx.x) / 128 - 1);
  }
#else
  __trap();  // machine code for another device: never fail silently
#endif
}

/// Boxes of 64 elements by `box_rows` rows of an operand.
CUtensorMap operand_map(const Operand& m, uint32_t box_rows, const char* name) {
  if (!m.aligned) {
    fail(Code::kShape, "matmul: on Hopper the rows of %s must start at 16 bytes; here they are %lld elements apart.", name,
         (long long)m.stride);
  }
  return tensor_map(m.data, m.height, m.width, m.stride, box_rows, name);
}

template <class T, Inside kA, Inside kB>
void launch_sm90(const Stream& stream, const Product& p) {
  static_assert(!T::kWalk || T::kColumns <= 128, "sums and totals share 232 registers");
  const CUtensorMap a = operand_map(p.a, kA == Inside::kDepth ? T::kRows : 64, "the left operand");
  const CUtensorMap b = operand_map(p.b, kB == Inside::kDepth ? T::kColumns : 64, "the right operand");
  static const int resident = ::hone::cuda::device_attribute(cudaDevAttrMultiProcessorCount) * T::kBlocksPerProcessor;
  const int64_t blocks = blocks_of(p.rows, p.columns, p.pieces, p.spread, T::kRows, T::kColumns);
  HONE_LAUNCH((product_sm90_kernel<T, kA, kB>), unsigned(std::min<int64_t>(blocks, resident)), T::kThreads,
              Ring<T>::kBytes, stream, a, b, p);
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
  if (p.rows <= kFewRows) return launch_sm90<Few, kDepth, kDepth>(stream, p);
  if (p.pieces > 1) return launch_sm90<Walk, kDepth, kDepth>(stream, p);
  launch_sm90<Many, kDepth, kDepth>(stream, p);
}

}  // namespace hone::kernels::cuda
