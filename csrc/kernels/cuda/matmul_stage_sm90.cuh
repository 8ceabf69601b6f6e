// Shared by Hopper's matrix products: tile sizes, and multiplying one stage of a ring by a group of four
// warps.
#pragma once

#include "kernels/cuda/matmul_product.cuh"
#include "kernels/cuda/operand_sm90.cuh"
#include "kernels/cuda/tma_map.h"
#include "kernels/cuda/tma_ring.cuh"

namespace hone::kernels::cuda {

/// A tile of 64 kGroups x kColumns outputs. kWalk: pieces of k are added in separate registers. The kCluster
/// blocks of a cluster compute tiles that lie one below the other and share the right operand: each block
/// copies a part of it to all.
template <int kGroups_, int kColumns_, int kStages_, bool kWalk_, int kCluster_ = 1>
struct HopperTile {
  static constexpr int kCluster = kCluster_;
  static constexpr int kGroups = kGroups_, kRows = 64 * kGroups_, kColumns = kColumns_, kStages = kStages_;
  static constexpr bool kWalk = kWalk_;
  static constexpr int kThreads = 128 * (kGroups + 1), kBlocksPerProcessor = kGroups == 1 ? 2 : 1;
  // registers of a thread that multiplies, if threads that copy keep 40
  static constexpr int kTaken = kGroups == 1 ? 216 : 232;
  static constexpr uint32_t kABytes = kRows * 128, kBBytes = kColumns * 128, kStageBytes = kABytes + kBBytes;
};

/// Starts the four products (16 k each) of a stage. `add` 0 starts the sums from zero.
template <class T, Inside kA, Inside kB>
__device__ __forceinline__ void multiply_stage(float (&sums)[T::kColumns / 2], const Ring<T>& ring, int stage,
                                               int group, int add) {
  constexpr bool kLinesA = kA == Inside::kLines, kLinesB = kB == Inside::kLines;
  const uint64_t left = operand_descriptor(kLinesA, ring.a(stage) + hopper_byte(kLinesA, 64 * group, 0));
  const uint64_t right = operand_descriptor(kLinesB, ring.b(stage));
  wgmma_fence();
#pragma unroll
  for (int i = 0; i < kHopperDepth / 16; ++i) {
    wgmma_bf16<kLinesA, kLinesB>(sums, deeper(left, kLinesA, i), deeper(right, kLinesB, i), i == 0 ? add : 1);
  }
  wgmma_commit();
}

/// TMA's description of an operand, in boxes of 64 elements by `box_rows` rows.
inline CUtensorMap operand_map(const Operand& m, uint32_t box_rows, const char* name) {
  if (!m.aligned) {
    fail(Code::kShape, "matmul: on Hopper the rows of %s must start at 16 bytes; here they are %lld elements apart.", name,
         (long long)m.stride);
  }
  return tensor_map(m.data, m.height, m.width, m.stride, box_rows, name);
}

}  // namespace hone::kernels::cuda
