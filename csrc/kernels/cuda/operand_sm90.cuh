// Values common to all lanes of a warp in Hopper's products, kept in uniform registers: the group of four warps, and an
// operand's location.
#pragma once

#include "kernels/cuda/matmul_plan.h"
#include "kernels/cuda/tma.cuh"
#include "kernels/cuda/wgmma.cuh"

namespace hone::kernels::cuda {

/// The group of four warps that this thread is in.
__device__ __forceinline__ int group_of_warps() { return int(same_in_warp(threadIdx.x / 128)); }

/// Descriptor of an operand that begins at `first` (matmul_plan.h), the same in all lanes.
__device__ __forceinline__ uint64_t operand_descriptor(bool lines_inside, const unsigned char* first) {
  return hopper_descriptor(lines_inside, same_in_warp(shared_address(first)));
}
/// The descriptor of the same lines, `steps` times 16 k further on.
__device__ __forceinline__ uint64_t deeper(uint64_t descriptor, bool lines_inside, int steps) {
  return descriptor + (steps * hopper_step(lines_inside) >> 4);
}

}  // namespace hone::kernels::cuda
