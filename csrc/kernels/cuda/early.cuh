// The beginning of a kernel that is launched early (HONE_LAUNCH_EARLY): while the kernel before it on the stream ends, its
// blocks find room and prepare themselves. test/csrc/cuda_shim has a host version.
#pragma once

#include <cuda_runtime.h>

namespace hone::kernels::cuda {

/// Waits until the kernels before this one have ended and what they wrote is seen, then lets the next one begin. Every
/// thread calls it, none leaves before, and until then a thread touches no global memory but weights: those are written by
/// copies and by kernels that let no later kernel begin early. Elsewhere than on sm_90 it is nothing.
__device__ __forceinline__ void await_predecessor() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;\ngriddepcontrol.launch_dependents;\n" ::: "memory");
#endif
}

}  // namespace hone::kernels::cuda
