// Gate activations of an MLP, SiLU and GELU, for every kernel that multiplies its two halves.
#pragma once

#include <cuda_runtime.h>

namespace hone::kernels::cuda {

__device__ __forceinline__ float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

/// Both activations are x sigmoid(bent(x)), as in kernels/cpu/rows.inc; stretched(x) is x times the
/// derivative of bent.
struct Silu {
  __device__ static float bent(float x) { return x; }
  __device__ static float stretched(float x) { return x; }
};
struct Gelu {
  static constexpr float kRoot = 1.5957691216057308f, kCube = kRoot * 0.044715f;
  __device__ static float bent(float x) { return x * fmaf(x * x, kCube, kRoot); }
  __device__ static float stretched(float x) { return x * fmaf(x * x, 3.0f * kCube, kRoot); }
};

/// A gate and its up, clamped to the limit as in kernels/cpu/rows.inc; within: whether each was not clamped.
struct LimitedPair {
  static constexpr float kSlope = 1.702f;
  float gate, up;
  bool gate_within, up_within;

  __device__ LimitedPair(float g, float u, float limit)
      : gate(g > limit ? limit : g), up(u > limit ? limit : u < -limit ? -limit : u), gate_within(!(g > limit)),
        up_within(!(u > limit || u < -limit)) {}
  __device__ float opened() const { return sigmoid(gate * kSlope); }
  __device__ float raised() const { return up + 1.0f; }
};

/// activation(gate) x up in f32, which the caller rounds once.
template <class Gate>
__device__ __forceinline__ float gated(float gate, float up) {
  return gate * sigmoid(Gate::bent(gate)) * up;
}

}  // namespace hone::kernels::cuda
