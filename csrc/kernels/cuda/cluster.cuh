// Thread-block clusters (sm_90): blocks that run at the same time and read each other's shared memory.
// test/csrc/cuda_shim has a host version.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace hone::kernels::cuda {

/// Waits for all threads of all blocks of the cluster, and makes their earlier writes visible. Call it before
/// the first access to another block's memory, and after the last one, so that no block exits too early.
__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\n" ::: "memory");
}
__device__ __forceinline__ int cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;\n" : "=r"(rank));
  return int(rank);
}
/// Reads four values from the shared memory of the cluster's block `rank`, at the address that `mine` has in
/// this block.
__device__ __forceinline__ float4 load_peer(const float4* mine, int rank) {
  float4 v;
  asm volatile(
      "{\n.reg .b32 at;\nmapa.shared::cluster.u32 at, %4, %5;\n"
      "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [at];\n}\n"
      : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
      : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(mine))), "r"(rank)
      : "memory");
  return v;
}

}  // namespace hone::kernels::cuda
