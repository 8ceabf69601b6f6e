// Host version of csrc/kernels/cuda/cluster.cuh.
#pragma once

#include <cuda_runtime.h>

namespace hone::kernels::cuda {

inline void cluster_sync(HONE_SHIM_SITE) { cuda_shim::cluster_barrier(file, line); }
inline int cluster_rank() { return cuda_shim::cluster_rank(); }
inline float4 load_peer(const float4* mine, int rank) {
  return *static_cast<const float4*>(cuda_shim::peer_shared(mine, sizeof(float4), rank));
}

}  // namespace hone::kernels::cuda
