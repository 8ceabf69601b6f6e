// The only place that launches kernels. test/csrc/cuda_shim has a host version of this header.
#pragma once

#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>

#include "core/cuda/check.h"
#include "core/cuda/shared_bytes.h"
#include "core/stream.h"

namespace hone::cuda {

/// True if the <op>_sm90.cu files are part of this build: `if constexpr (kSm90Built)` before naming one. Without sm_90a
/// among the architectures (CUDAARCHS=90, native) their kernels are empty, and a Hopper uses the portable ones.
#ifdef HONE_WITHOUT_SM90A
inline constexpr bool kSm90Built = false;
#else
inline constexpr bool kSm90Built = true;
#endif

/// Lets a block of `kernel` use `dynamic` bytes of shared memory beyond the usual 48 KiB, statics included.
inline void allow_shared(const char* name, const void* kernel, size_t dynamic) {
  if (dynamic == 0) return;  // nvcc refuses static variables of more
  if (dynamic <= kPlainSharedBytes) {
    cudaFuncAttributes known;
    check(cudaFuncGetAttributes(&known, kernel), name);
    if (!exceeds_plain_shared(known.sharedSizeBytes, dynamic)) return;
  }
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(dynamic)), name);
}

/// Launch attributes. `cluster`: number of neighbouring blocks along x that share their memory (sm_90, at most 8; 0:
/// none); the grid's x is a multiple of it. `early`: its blocks may start while the previous kernel on the stream still
/// runs, if that one allows it; it calls await_predecessor() (kernels/cuda/early.cuh).
struct Launch {
  int cluster = 0;
  bool early = false;
};

/// True if the machine code for this device has the wait instruction, which needs sm_90a on a Hopper. With
/// HONE_CUDA_PORTABLE no kernel starts early.
inline bool may_begin_early() {
  static const bool may = [] {
    const char* const portable = std::getenv("HONE_CUDA_PORTABLE");
    return kSm90Built && (!portable || std::strcmp(portable, "0") == 0) &&
           device_attribute(cudaDevAttrComputeCapabilityMajor) == 9 &&
           device_attribute(cudaDevAttrComputeCapabilityMinor) == 0;
  }();
  return may;
}

/// Launches; an empty grid launches nothing. Throws kCuda naming the kernel. `P...` are the kernel's own types.
template <class... P, class... A>
void launch(const char* name, Launch how, void (*kernel)(P...), dim3 grid, dim3 block, size_t shared_bytes,
            const Stream& stream, A&&... args) {
  static_assert(sizeof...(P) == sizeof...(A), "a kernel takes exactly its parameters");
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  allow_shared(name, reinterpret_cast<const void*>(kernel), shared_bytes);
  cudaLaunchAttribute attributes[2] = {};
  cudaLaunchConfig_t config{};
  config.gridDim = grid, config.blockDim = block, config.dynamicSmemBytes = shared_bytes;
  config.stream = static_cast<cudaStream_t>(stream.handle), config.attrs = attributes;
  if (how.cluster > 0) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = unsigned(how.cluster), attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  }
  if (how.early && may_begin_early()) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
  }
  check(cudaLaunchKernelEx(&config, kernel, static_cast<P>(args)...), name);
}

}  // namespace hone::cuda

/// HONE_LAUNCH(kernel, grid, block, shared_bytes, stream, args...); parenthesize a kernel with commas: (k<T, 64>).
#define HONE_LAUNCH(kernel, grid, block, shared_bytes, stream, ...) \
  HONE_LAUNCH_AS(::hone::cuda::Launch{}, kernel, grid, block, shared_bytes, stream, __VA_ARGS__)

/// The same with an early start.
#define HONE_LAUNCH_EARLY(kernel, grid, block, shared_bytes, stream, ...) \
  HONE_LAUNCH_AS((::hone::cuda::Launch{0, true}), kernel, grid, block, shared_bytes, stream, __VA_ARGS__)

/// The same with a Launch.
#define HONE_LAUNCH_AS(how, kernel, grid, block, shared_bytes, stream, ...) \
  ::hone::cuda::launch(#kernel, how, kernel, grid, block, shared_bytes, stream, __VA_ARGS__)

/// `type* name`: this launch's dynamic shared memory, 128-byte aligned.
#define HONE_DYNAMIC_SHARED(type, name)                              \
  extern __shared__ __align__(128) unsigned char hone_dynamic_shared[]; \
  type* const name = reinterpret_cast<type*>(hone_dynamic_shared)
