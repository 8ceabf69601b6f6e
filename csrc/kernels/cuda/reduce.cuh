// Reductions over a warp and over a block by fixed trees, so that the same inputs give the same bits.
#pragma once

#include <cuda_runtime.h>

namespace hone::kernels::cuda {

inline constexpr unsigned kFullWarp = 0xffffffffu;

/// Sum over the 32 lanes; every lane gets the same bits. A butterfly of strides 16, 8, 4, 2, 1. All lanes
/// take part.
template <class T>
__device__ __forceinline__ T warp_sum(T value) {
#pragma unroll
  for (int stride = 16; stride > 0; stride /= 2) value += __shfl_xor_sync(kFullWarp, value, stride);
  return value;
}

/// Sum over the lanes up to this one. All lanes take part.
template <class T>
__device__ __forceinline__ T sum_up_to_lane(T value) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const T lower = __shfl_up_sync(kFullWarp, value, distance);
    if (int(threadIdx.x) % 32 >= distance) value += lower;
  }
  return value;
}

/// Maximum over the 32 lanes; NaN is ignored unless all lanes are NaN.
__device__ __forceinline__ float warp_max(float value) {
#pragma unroll
  for (int stride = 16; stride > 0; stride /= 2) value = fmaxf(value, __shfl_xor_sync(kFullWarp, value, stride));
  return value;
}

/// Sum over a one-dimensional block of whole warps; every thread gets the same bits. Sums warps first, then
/// their sums. `scratch`: 32 values of shared memory, which may be reused on return. All threads take part.
template <class T>
__device__ __forceinline__ T block_sum(T value, T* scratch) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  value = warp_sum(value);
  if (lane == 0) scratch[warp] = value;
  __syncthreads();
  value = warp_sum(lane < warps ? scratch[lane] : T(0));
  __syncthreads();
  return value;
}

}  // namespace hone::kernels::cuda
