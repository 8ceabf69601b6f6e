// For ops that have a portable and a Hopper kernel: a test runs with each of the two, or with Hopper's alone.
// On the shim the device says that it is a Hopper.
#pragma once

#include "device.h"

#ifdef HONE_CUDA_SHIM
#include "shim/hopper.h"
#endif

namespace hone::test {

/// Called by the setup of such tests: the shim says that it is a Hopper.
inline void say_hopper() {
#ifdef HONE_CUDA_SHIM
  cuda_shim::set_capability(9);
#endif
}

}  // namespace hone::test

#ifdef HONE_HAVE_CUDA

#include "kernels/cuda/matmul.h"

/// Skips a test of Hopper's kernels where there is none.
#define NEEDS_HOPPER \
  NEEDS_DEVICE;      \
  if (!hone::kernels::cuda::has_wgmma()) SKIP("no Hopper")

namespace hone::test {

/// Runs `body` with the kernels that the device prefers, and again with the portable ones if those are
/// others.
template <class Body>
void each_way(const Body& body) {
  body();
  if (!kernels::cuda::has_wgmma()) return;
  kernels::cuda::force_portable(true);
  body();
  kernels::cuda::force_portable(false);
}

/// While it lives the shim's wgmma truncates, so that a tile that takes another instruction shows.
struct Truncating {
#ifdef HONE_CUDA_SHIM
  Truncating() { cuda_shim::truncate_products(true); }
  ~Truncating() { cuda_shim::truncate_products(false); }
#endif
};

}  // namespace hone::test

#endif
