// The one place where a kernel is launched. test/csrc/cuda_shim has a host version of this header.
#pragma once

#include <cuda_runtime.h>

#include "core/cuda/check.h"
#include "core/cuda/shared_bytes.h"
#include "core/stream.h"

namespace hone::cuda {

/// Whether the <op>_sm90.cu files are part of this build: `if constexpr (kSm90Built)` before naming one. Without sm_90a
/// among the architectures (CUDAARCHS=90, native) their kernels are empty, and a Hopper takes the portable ones.
#ifdef HONE_WITHOUT_SM90A
inline constexpr bool kSm90Built = false;
#else
inline constexpr bool kSm90Built = true;
#endif

/// Lets a block of `kernel` have so much dynamic shared memory. Without that it has 48 KiB, static variables included.
inline void allow_shared(const char* name, const void* kernel, size_t dynamic) {
  if (dynamic == 0) return;  // nvcc refuses static variables of more
  if (dynamic <= kPlainSharedBytes) {
    cudaFuncAttributes known;
    check(cudaFuncGetAttributes(&known, kernel), name);
    if (!exceeds_plain_shared(known.sharedSizeBytes, dynamic)) return;
  }
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(dynamic)), name);
}

/// Launches; an empty grid launches nothing. Throws kCuda naming the kernel. `P...` are the kernel's own types.
template <class... P, class... A>
void launch(const char* name, void (*kernel)(P...), dim3 grid, dim3 block, size_t shared_bytes, const Stream& stream,
            A&&... args) {
  static_assert(sizeof...(P) == sizeof...(A), "a kernel takes exactly its parameters");
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  allow_shared(name, reinterpret_cast<const void*>(kernel), shared_bytes);
  kernel<<<grid, block, shared_bytes, static_cast<cudaStream_t>(stream.handle)>>>(static_cast<P>(args)...);
  check(cudaGetLastError(), name);
}

/// The same in clusters of `cluster` neighbouring blocks of the grid's x, of which that is a multiple (sm_90, at most 8).
template <class... P, class... A>
void launch_clusters(const char* name, int cluster, void (*kernel)(P...), dim3 grid, dim3 block, size_t shared_bytes,
                     const Stream& stream, A&&... args) {
  static_assert(sizeof...(P) == sizeof...(A), "a kernel takes exactly its parameters");
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  allow_shared(name, reinterpret_cast<const void*>(kernel), shared_bytes);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = unsigned(cluster), attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid, config.blockDim = block, config.dynamicSmemBytes = shared_bytes;
  config.stream = static_cast<cudaStream_t>(stream.handle), config.attrs = &attribute, config.numAttrs = 1;
  check(cudaLaunchKernelEx(&config, kernel, static_cast<P>(args)...), name);
}

}  // namespace hone::cuda

/// HONE_LAUNCH(kernel, grid, block, shared_bytes, stream, args...); parenthesize a kernel with commas: (k<T, 64>).
#define HONE_LAUNCH(kernel, grid, block, shared_bytes, stream, ...) \
  ::hone::cuda::launch(#kernel, kernel, grid, block, shared_bytes, stream, __VA_ARGS__)

/// The same with the size of a cluster after the kernel.
#define HONE_LAUNCH_CLUSTERS(kernel, cluster, grid, block, shared_bytes, stream, ...) \
  ::hone::cuda::launch_clusters(#kernel, cluster, kernel, grid, block, shared_bytes, stream, __VA_ARGS__)

/// `type* name`: this launch's dynamic shared memory, 128-byte aligned.
#define HONE_DYNAMIC_SHARED(type, name)                              \
  extern __shared__ __align__(128) unsigned char hone_dynamic_shared[]; \
  type* const name = reinterpret_cast<type*>(hone_dynamic_shared)
