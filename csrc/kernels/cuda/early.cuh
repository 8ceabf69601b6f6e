// The beginning of a kernel that is launched early (HONE_LAUNCH_EARLY): its blocks start and prepare while
// the previous kernel on the stream ends. test/csrc/cuda_shim has a host version.
#pragma once

#include <cuda_runtime.h>

namespace hone::kernels::cuda {

/// Waits until the preceding kernels have ended and their writes are visible, then lets the next one begin. Every
/// thread calls it before it returns. Before the call a thread writes no global memory, and reads only data that the
/// kernel directly before does not write: a kernel that never calls this lets its successor begin when its blocks have
/// ended, which is before its writes are flushed (CUDA programming guide, programmatic dependent launch). Does nothing
/// below sm_90.
__device__ __forceinline__ void await_predecessor() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;\ngriddepcontrol.launch_dependents;\n" ::: "memory");
#endif
}

}  // namespace hone::kernels::cuda
