// A ring of stages in shared memory (sm_90): one thread lets the copy engine fill them; groups of four warps
// multiply their contents and release them.
#pragma once

#include "kernels/cuda/tma.cuh"

namespace hone::kernels::cuda {

/// A position in the ring of stages, and the parity of the number of completed rounds.
template <int kStages>
struct RingPlace {
  int stage = 0;
  unsigned parity = 0;
  __device__ __forceinline__ void advance() {
    if (++stage < kStages) return;
    stage = 0;
    parity ^= 1;
  }
};

/// T has kStages stages of kStageBytes, of which the first kABytes are the left operand's, and kGroups groups
/// of four warps that multiply; each warp arrives at `empty` once per stage.
template <class T>
struct Ring {
  unsigned char* stages;
  uint64_t *full, *empty;

  // Stages start at 1024-byte boundaries, where the swizzle's pattern starts; two sets of barriers follow the
  // stages.
  static constexpr size_t kBytes = 1024 + T::kStages * (T::kStageBytes + 2 * sizeof(uint64_t));

  __device__ __forceinline__ explicit Ring(unsigned char* shared)
      : stages(shared + (1024 - shared_address(shared) % 1024) % 1024),
        full(reinterpret_cast<uint64_t*>(stages + T::kStages * T::kStageBytes)), empty(full + T::kStages) {}
  __device__ __forceinline__ unsigned char* a(int stage) const { return stages + stage * T::kStageBytes; }
  __device__ __forceinline__ unsigned char* b(int stage) const { return a(stage) + T::kABytes; }

  /// Called by one thread, before barriers_made() and a __syncthreads(). Each stage is released by `blocks`
  /// blocks.
  __device__ __forceinline__ void make_barriers(int blocks = 1) const {
    for (int i = 0; i < T::kStages; ++i) {
      barrier_init(&full[i], 1);
      barrier_init(&empty[i], 4 * T::kGroups * blocks);
    }
  }
};

}  // namespace hone::kernels::cuda
