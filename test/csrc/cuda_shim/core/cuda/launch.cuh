// Host version of csrc/core/cuda/launch.cuh: a launch runs every CUDA thread of the grid as a fiber, before
// it returns.
#pragma once

#include <cuda_runtime.h>

#include "core/cuda/check.h"
#include "core/stream.h"

namespace hone::cuda {

inline constexpr bool kSm90Built = true;

using Launch = cuda_shim::Launch;

}  // namespace hone::cuda

#define HONE_LAUNCH(kernel, grid, block, shared_bytes, stream, ...) \
  HONE_LAUNCH_AS(::hone::cuda::Launch{}, kernel, grid, block, shared_bytes, stream, __VA_ARGS__)

#define HONE_LAUNCH_EARLY(kernel, grid, block, shared_bytes, stream, ...) \
  HONE_LAUNCH_AS((::hone::cuda::Launch{0, true}), kernel, grid, block, shared_bytes, stream, __VA_ARGS__)

#define HONE_LAUNCH_AS(how, kernel, grid, block, shared_bytes, stream, ...) \
  ::hone::cuda_shim::launch(#kernel, how, kernel, grid, block, shared_bytes, (stream).handle, __VA_ARGS__)

#define HONE_DYNAMIC_SHARED(type, name) type* const name = static_cast<type*>(::hone::cuda_shim::dynamic_shared())
