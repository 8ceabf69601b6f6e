// For ops with a portable and a Hopper kernel: runs a test with each of the two, or only with Hopper's. In
// the host shim the device reports that it is a Hopper.
#pragma once

#include "device.h"

#ifdef HONE_CUDA_SHIM
#include "shim/hopper.h"
#endif

namespace hone::test {

/// Makes the host shim report a Hopper; for the setup of tests of Hopper kernels.
inline void say_hopper() {
#ifdef HONE_CUDA_SHIM
  cuda_shim::set_capability(9);
#endif
}

}  // namespace hone::test

#ifdef HONE_HAVE_CUDA

#include "kernels/cuda/matmul.h"

/// Skips a test of Hopper kernels if the device is not a Hopper.
#define NEEDS_HOPPER \
  NEEDS_DEVICE;      \
  if (!hone::kernels::cuda::has_wgmma()) SKIP("no Hopper")

namespace hone::test {

/// Runs `body` with the kernels that the device prefers and, if these are not the portable ones, again with
/// those.
template <class Body>
void each_way(const Body& body) {
  body();
  if (!kernels::cuda::has_wgmma()) return;
  kernels::cuda::force_portable(true);
  body();
  kernels::cuda::force_portable(false);
}

/// While an object exists, the shim's wgmma truncates, so that a tile computed by another instruction has
/// other bits.
struct Truncating {
#ifdef HONE_CUDA_SHIM
  Truncating() { cuda_shim::truncate_products(true); }
  ~Truncating() { cuda_shim::truncate_products(false); }
#endif
};

}  // namespace hone::test

#endif
