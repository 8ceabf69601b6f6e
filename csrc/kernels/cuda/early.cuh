// For kernels launched by HONE_LAUNCH_EARLY, whose blocks may start while the previous kernel on the stream
// still runs. test/csrc/cuda_shim has a host version.
#pragma once

#include <cuda_runtime.h>

namespace hone::kernels::cuda {

/// Waits until all preceding kernels have ended and their writes are visible, then allows the next kernel to
/// start. Every thread must call it before it returns. Before the call a thread must not write global memory,
/// and may only read data that the directly preceding kernel does not write. (A kernel that never calls this
/// allows its successor to start when its blocks have ended, which is before its writes are flushed: CUDA
/// programming guide, programmatic dependent launch.) Does nothing below sm_90.
__device__ __forceinline__ void await_predecessor() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;\ngriddepcontrol.launch_dependents;\n" ::: "memory");
#endif
}

}  // namespace hone::kernels::cuda
