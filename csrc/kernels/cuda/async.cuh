// Copies from global to shared memory that run beside the arithmetic (cp.async, sm_80).
// test/csrc/cuda_shim has a host version in which bytes arrive at the wait, and not before.
#pragma once

#include <cuda_runtime.h>

namespace hone::kernels::cuda {

/// Starts copying 16 bytes; both addresses 16-byte aligned. `valid` false writes zeros and reads nothing.
/// Only the thread that waits sees the bytes: a __syncthreads() shows them to the others.
__device__ __forceinline__ void cp_async16(void* shared, const void* global, bool valid = true) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const int bytes = valid ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(to), "l"(global), "r"(bytes) : "memory");
}

/// Ends a group: everything this thread started since the last one.
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;\n" ::: "memory"); }

/// Waits until at most the N newest groups of this thread are under way.
template <int N>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(N) : "memory");
}

}  // namespace hone::kernels::cuda
