// Turns a CUDA status into a hone::Error.
#pragma once

#include <cuda_runtime.h>

#include "core/error.h"

namespace hone::cuda {

/// Throws kOutOfMemory or kCuda "<what>: <CUDA's text> (<CUDA's name>)." unless `status` is cudaSuccess.
inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // clears the error, which the next launch would report again
  fail(status == cudaErrorMemoryAllocation ? Code::kOutOfMemory : Code::kCuda, "%s: %s (%s).", what,
       cudaGetErrorString(status), cudaGetErrorName(status));
}

/// An attribute of the CUDA device that is current for this thread. Throws kCuda.
inline int device_attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

}  // namespace hone::cuda
