// Values that all lanes of a warp share in Hopper's products, kept in uniform registers: the group of four
// warps, and an operand's descriptor.
#pragma once

#include "kernels/cuda/matmul_plan.h"
#include "kernels/cuda/tma.cuh"
#include "kernels/cuda/wgmma.cuh"

namespace hone::kernels::cuda {

/// Index of the group of four warps to which this thread belongs.
__device__ __forceinline__ int group_of_warps() { return int(same_in_warp(threadIdx.x / 128)); }

/// wgmma descriptor of an operand that begins at `first` (matmul_plan.h), equal in all lanes.
__device__ __forceinline__ uint64_t operand_descriptor(bool lines_inside, const unsigned char* first) {
  return hopper_descriptor(lines_inside, same_in_warp(shared_address(first)));
}
/// The descriptor of the same lines, moved by `steps` times 16 k.
__device__ __forceinline__ uint64_t deeper(uint64_t descriptor, bool lines_inside, int steps) {
  return descriptor + (steps * hopper_step(lines_inside) >> 4);
}

}  // namespace hone::kernels::cuda
