// Hopper's copy engine (TMA) and its barriers (sm_90): tiles of a tensor are copied to shared memory without
// threads. test/csrc/cuda_shim has a host version, in which bytes arrive some time after the request.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace hone::kernels::cuda {

__device__ __forceinline__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

/// Initialises a barrier whose phases each end after `arrivals` arrivals and all announced bytes.
__device__ __forceinline__ void barrier_init(uint64_t* barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}
/// Makes this thread's writes to shared memory visible to copy engine and wgmma. Call it before signalling
/// other threads.
__device__ __forceinline__ void show_writes() { asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory"); }
/// Makes new barriers visible to the copy engine. Call it in the thread that made them, before a
/// __syncthreads().
__device__ __forceinline__ void barriers_made() { show_writes(); }

/// Makes new barriers visible to the other blocks of a cluster too. Call it before a cluster_sync().
__device__ __forceinline__ void cluster_barriers_made() {
  asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
  show_writes();
}

__device__ __forceinline__ void barrier_arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(shared_address(barrier)) : "memory");
}
/// Arrives at the barrier that has the same address in the cluster's block `rank`.
__device__ __forceinline__ void barrier_arrive_at(uint64_t* barrier, int rank) {
  asm volatile(
      "{\n.reg .b32 at;\nmapa.shared::cluster.u32 at, %0, %1;\nmbarrier.arrive.release.cluster.shared::cluster.b64 _, [at];\n}\n" ::
          "r"(shared_address(barrier)),
      "r"(rank)
      : "memory");
}
/// Arrives, and announces `bytes` bytes that copies will write in this phase.
__device__ __forceinline__ void barrier_arrive_expecting(uint64_t* barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}
/// Waits for the end of the phase of this parity; phases count from 0. For a new barrier, parity 1 counts as
/// ended.
__device__ __forceinline__ void barrier_wait(uint64_t* barrier, unsigned parity) {
  unsigned ended = 0;
  while (!ended) {
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}\n"
        : "=r"(ended)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
  }
}

/// Prefetches the map (TMA's description of a tensor) before the first copy. Called by one thread; the map is
/// a kernel parameter.
__device__ __forceinline__ void prefetch_map(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];\n" ::"l"(reinterpret_cast<uint64_t>(&map)) : "memory");
}

/// Starts copying the map's box at (inner, outer) to `shared` (1024-byte aligned for the 128-byte swizzle).
/// Elements beyond the tensor arrive as zeros, and count as bytes for the barrier. Called by one thread.
__device__ __forceinline__ void copy_box(void* shared, const CUtensorMap& map, int inner, int outer, uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];\n" ::
          "r"(shared_address(shared)),
      "l"(reinterpret_cast<uint64_t>(&map)), "r"(inner), "r"(outer), "r"(shared_address(barrier))
      : "memory");
}

/// Like copy_box, from matrix number `matrix` of a map of several; elements beyond that matrix arrive as zeros.
__device__ __forceinline__ void copy_box_of(void* shared, const CUtensorMap& map, int inner, int outer, int matrix, uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];\n" ::
          "r"(shared_address(shared)),
      "l"(reinterpret_cast<uint64_t>(&map)), "r"(inner), "r"(outer), "r"(matrix), "r"(shared_address(barrier))
      : "memory");
}

/// Like copy_box, but copies to the address `shared` in every block of the cluster whose bit in `blocks` is
/// set, and notifies each block's barrier.
__device__ __forceinline__ void copy_box_to(void* shared, const CUtensorMap& map, int inner, int outer, uint64_t* barrier,
                                            unsigned short blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%2, %3}], [%4], %5;\n" ::"r"(shared_address(shared)),
      "l"(reinterpret_cast<uint64_t>(&map)), "r"(inner), "r"(outer), "r"(shared_address(barrier)), "h"(blocks)
      : "memory");
}

}  // namespace hone::kernels::cuda
