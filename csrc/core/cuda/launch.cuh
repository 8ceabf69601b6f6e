// The only place that launches kernels. test/csrc/cuda_shim has a host version of this header.
#pragma once

#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>

#include "core/cuda/check.h"
#include "core/cuda/shared_bytes.h"
#include "core/stream.h"

namespace hone::cuda {

/// True if the <op>_sm90.cu files are part of this build; test it with `if constexpr` before naming one of
/// their kernels. If sm_90a is not among the architectures (CUDAARCHS=90, native), their kernels are empty
/// and a Hopper GPU uses the portable kernels.
#ifdef HONE_WITHOUT_SM90A
inline constexpr bool kSm90Built = false;
#else
inline constexpr bool kSm90Built = true;
#endif

/// Allows `kernel` more than 48 KiB of shared memory per block, `dynamic` bytes of it dynamic, if it needs so
/// much.
inline void allow_shared(const char* name, const void* kernel, size_t dynamic) {
  if (dynamic == 0) return;  // nvcc itself refuses static shared variables of more than 48 KiB
  if (dynamic <= kPlainSharedBytes) {
    cudaFuncAttributes known;
    check(cudaFuncGetAttributes(&known, kernel), name);
    if (!exceeds_plain_shared(known.sharedSizeBytes, dynamic)) return;
  }
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(dynamic)), name);
}

/// Launch attributes. `cluster`: number of neighbouring blocks along x that can read each other's shared
/// memory (sm_90, at most 8; 0: none); the grid's x is a multiple of it. `early`: the kernel's blocks may
/// start while the previous kernel on the stream still runs, if the previous kernel allows it; the kernel
/// must call await_predecessor() (kernels/cuda/early.cuh).
struct Launch {
  int cluster = 0;
  bool early = false;
};

/// True if kernels on this device may start early: the machine code has the wait instruction, which needs
/// sm_90a on a Hopper, and HONE_CUDA_PORTABLE is not set.
inline bool may_begin_early() {
  static const bool may = [] {
    const char* const portable = std::getenv("HONE_CUDA_PORTABLE");
    return kSm90Built && (!portable || std::strcmp(portable, "0") == 0) &&
           device_attribute(cudaDevAttrComputeCapabilityMajor) == 9 &&
           device_attribute(cudaDevAttrComputeCapabilityMinor) == 0;
  }();
  return may;
}

/// Launches a kernel; does nothing for an empty grid. Throws kCuda naming the kernel. `P...` are the types of
/// the kernel's parameters.
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

/// Launches a kernel: HONE_LAUNCH(kernel, grid, block, shared_bytes, stream, args...). Parenthesize a kernel
/// name that has commas: (k<T, 64>).
#define HONE_LAUNCH(kernel, grid, block, shared_bytes, stream, ...) \
  HONE_LAUNCH_AS(::hone::cuda::Launch{}, kernel, grid, block, shared_bytes, stream, __VA_ARGS__)

/// Launches a kernel that may start before its predecessor on the stream ends (cuda::Launch::early).
#define HONE_LAUNCH_EARLY(kernel, grid, block, shared_bytes, stream, ...) \
  HONE_LAUNCH_AS((::hone::cuda::Launch{0, true}), kernel, grid, block, shared_bytes, stream, __VA_ARGS__)

/// Launches a kernel with the attributes `how`, a cuda::Launch.
#define HONE_LAUNCH_AS(how, kernel, grid, block, shared_bytes, stream, ...) \
  ::hone::cuda::launch(#kernel, how, kernel, grid, block, shared_bytes, stream, __VA_ARGS__)

/// Declares `type* name`, the launch's dynamic shared memory, 128-byte aligned.
#define HONE_DYNAMIC_SHARED(type, name)                              \
  extern __shared__ __align__(128) unsigned char hone_dynamic_shared[]; \
  type* const name = reinterpret_cast<type*>(hone_dynamic_shared)
