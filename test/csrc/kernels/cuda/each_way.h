// For ops with two kernels: on the shim the device says it is a Hopper, and a test runs by each of the two, or by
// Hopper's alone.
#pragma once

#include "device.h"

#ifdef HONE_CUDA_SHIM
#include "shim/hopper.h"
#endif

namespace hone::test {

/// What a test of both ways sets up: fibers say that they are a Hopper.
inline void say_hopper() {
#ifdef HONE_CUDA_SHIM
  cuda_shim::set_capability(9);
#endif
}

}  // namespace hone::test

#ifdef HONE_HAVE_CUDA

#include "kernels/cuda/matmul.h"

/// Skips a test that is of Hopper's kernels alone.
#define NEEDS_HOPPER \
  NEEDS_DEVICE;      \
  if (!hone::kernels::cuda::has_wgmma()) SKIP("no Hopper")

namespace hone::test {

/// Once by the kernels the device prefers, once more by the portable ones if those are others.
template <class Body>
void each_way(const Body& body) {
  body();
  if (!kernels::cuda::has_wgmma()) return;
  kernels::cuda::force_portable(true);
  body();
  kernels::cuda::force_portable(false);
}

/// As long as it lives the shim's wgmma truncates: no tile can take another instruction unseen.
struct Truncating {
#ifdef HONE_CUDA_SHIM
  Truncating() { cuda_shim::truncate_products(true); }
  ~Truncating() { cuda_shim::truncate_products(false); }
#endif
};

}  // namespace hone::test

#endif
