// Host version of csrc/kernels/cuda/early.cuh.
#pragma once

#include <cuda_runtime.h>

namespace hone::kernels::cuda {

inline void await_predecessor(HONE_SHIM_SITE) { cuda_shim::await_predecessor(file, line); }

}  // namespace hone::kernels::cuda
