// Host version of csrc/kernels/cuda/tma.cuh: barriers count arrivals and bytes; copied bytes arrive at a
// random time after the request.
#pragma once

#include "shim/hopper.h"

namespace hone::kernels::cuda {

inline uint32_t shared_address(const void* p) { return cuda_shim::window_address(p); }
inline void barrier_init(uint64_t* barrier, unsigned arrivals) {
  cuda_shim::barrier_init(shared_address(barrier), arrivals);
}
inline void show_writes() { cuda_shim::fence_proxy(); }
inline void barriers_made() { show_writes(); }
inline void cluster_barriers_made() { show_writes(); }
inline void barrier_arrive_at(uint64_t* barrier, int rank) {
  cuda_shim::in_peer(rank, [at = shared_address(barrier)] { cuda_shim::barrier_arrive(at, 0); });
}
inline void barrier_arrive(uint64_t* barrier) { cuda_shim::barrier_arrive(shared_address(barrier), 0); }
inline void barrier_arrive_expecting(uint64_t* barrier, unsigned bytes) {
  cuda_shim::barrier_arrive(shared_address(barrier), bytes);
}
inline void barrier_wait(uint64_t* barrier, unsigned parity, HONE_SHIM_SITE) {
  cuda_shim::barrier_wait(shared_address(barrier), parity, file, line);
}
inline void prefetch_map(const CUtensorMap&) {}
inline void copy_box(void* shared, const CUtensorMap& map, int inner, int outer, uint64_t* barrier) {
  cuda_shim::copy_box(shared_address(shared), map, {inner, outer}, shared_address(barrier));
}
inline void copy_box_of(void* shared, const CUtensorMap& map, int inner, int outer, int matrix, uint64_t* barrier) {
  cuda_shim::copy_box(shared_address(shared), map, {inner, outer, matrix}, shared_address(barrier));
}

inline void copy_box_to(void* shared, const CUtensorMap& map, int inner, int outer, uint64_t* barrier, unsigned short blocks) {
  const uint32_t to = shared_address(shared), at = shared_address(barrier);
  for (int rank = 0; rank < 16; ++rank) {
    if (blocks >> rank & 1) cuda_shim::in_peer(rank, [&] { cuda_shim::copy_box(to, map, {inner, outer}, at); });
  }
}

}  // namespace hone::kernels::cuda
