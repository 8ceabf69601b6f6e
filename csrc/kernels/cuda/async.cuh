// Asynchronous copies from global to shared memory (cp.async, sm_80), which overlap with arithmetic.
// test/csrc/cuda_shim has a host version, in which bytes arrive only at the wait.
#pragma once

#include <cuda_runtime.h>

namespace hone::kernels::cuda {

/// Starts copying 16 bytes; both addresses are 16-byte aligned. `valid` false writes zeros and reads nothing.
/// After its wait only the copying thread sees the bytes; a __syncthreads() makes them visible to other
/// threads.
__device__ __forceinline__ void cp_async16(void* shared, const void* global, bool valid = true) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const int bytes = valid ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(to), "l"(global), "r"(bytes) : "memory");
}

/// Ends a group, which has every copy that this thread started since the last commit.
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;\n" ::: "memory"); }

/// Waits until at most the N newest groups of this thread are unfinished.
template <int N>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(N) : "memory");
}

}  // namespace hone::kernels::cuda
