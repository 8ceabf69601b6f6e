// Host version of csrc/core/cuda/launch.cuh: a launch runs the grid on fibers, here and now.
#pragma once

#include <cuda_runtime.h>

#include "core/cuda/check.h"
#include "core/stream.h"

namespace hone::cuda {

inline constexpr bool kSm90Built = true;

}  // namespace hone::cuda

#define HONE_LAUNCH(kernel, grid, block, shared_bytes, stream, ...) \
  ::hone::cuda_shim::launch(#kernel, 1, kernel, grid, block, shared_bytes, (stream).handle, __VA_ARGS__)

#define HONE_LAUNCH_CLUSTERS(kernel, cluster, grid, block, shared_bytes, stream, ...) \
  ::hone::cuda_shim::launch(#kernel, cluster, kernel, grid, block, shared_bytes, (stream).handle, __VA_ARGS__)

#define HONE_DYNAMIC_SHARED(type, name) type* const name = static_cast<type*>(::hone::cuda_shim::dynamic_shared())
