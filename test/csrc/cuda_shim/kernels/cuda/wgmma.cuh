// Host version of csrc/kernels/cuda/wgmma.cuh: sums are NaN from the start of a product until the wait for
// it.
#pragma once

#include "shim/hopper.h"

#define __CUDA_ARCH_FEAT_SM90_ALL 1

namespace hone::kernels::cuda {

/// Faults if lanes differ; a GPU would silently use lane 0's value.
inline uint32_t same_in_warp(uint32_t x, HONE_SHIM_SITE) {
  if (__shfl_sync(0xffffffffu, x, 0, 32, file, line) != x) cuda_shim::fault("same_in_warp: lanes differ (%s:%d).", file, line);
  return x;
}

inline void wgmma_fence() { cuda_shim::wgmma_fence(); }
inline void wgmma_commit() { cuda_shim::wgmma_commit(); }
template <int N>
void wgmma_wait(HONE_SHIM_SITE) {
  cuda_shim::wgmma_wait(N, file, line);
}
template <int N>
void wgmma_settle(float (&)[N]) {}

/// The numbers of sums per thread for which wgmma.cuh wraps the instruction.
template <int kSums>
inline constexpr bool kWgmmaShape = kSums == 8 || kSums == 32 || kSums == 64 || kSums == 128;

template <int kLinesA, int kLinesB, int N>
void wgmma_bf16(float (&d)[N], uint64_t a, uint64_t b, int add, HONE_SHIM_SITE) {
  static_assert(kWgmmaShape<N>);
  cuda_shim::wgmma_issue({a, b, 2 * N, kLinesA != 0, kLinesB != 0, add != 0}, nullptr, d, file, line);
}
template <int kLinesB, int N>
void wgmma_bf16(float (&d)[N], const uint32_t (&a)[4], uint64_t b, int add, HONE_SHIM_SITE) {
  static_assert(kWgmmaShape<N>);
  cuda_shim::wgmma_issue({0, b, 2 * N, false, kLinesB != 0, add != 0}, a, d, file, line);
}

template <int N>
void give_registers_back() {
  cuda_shim::set_registers(N, false);
}
template <int N>
void take_registers() {
  cuda_shim::set_registers(N, true);
}

}  // namespace hone::kernels::cuda
