// For ops with two kernels: on the shim the device says it is a Hopper, and a test runs by each of the two.
#pragma once

#include "device.h"

#ifdef HONE_HAVE_CUDA

#include "kernels/cuda/matmul.h"

namespace hone::test {

#ifdef HONE_CUDA_SHIM
static const bool says_hopper = (cuda_shim::set_capability(9), true);
#endif

/// Once by the kernels the device prefers, once more by the portable ones if those are others.
template <class Body>
void each_way(const Body& body) {
  body();
  if (!kernels::cuda::has_wgmma()) return;
  kernels::cuda::force_portable(true);
  body();
  kernels::cuda::force_portable(false);
}

}  // namespace hone::test

#endif
