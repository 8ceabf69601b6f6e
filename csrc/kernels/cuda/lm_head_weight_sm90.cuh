// Layout of a block of the head's weights in Hopper's shared memory, as the copy engine (TMA) writes it (64 k
// of 128 outputs, rows of 128 bytes, swizzled), and how it becomes the left operand of wgmma. f32 weights
// pass through registers, where they are split as in lm_head_weight.cuh; bf16 weights are multiplied from
// shared memory.
#pragma once

#include "kernels/cuda/lm_head_weight.cuh"
#include "kernels/cuda/matmul_plan.h"
#include "kernels/cuda/tma.cuh"
#include "kernels/cuda/tma_map.h"

namespace hone::kernels::cuda {

/// How wgmma reads a Weight. If kInRegisters: fragment() loads a warp's 16 outputs from `output` on, and
/// lanes with lane / 4 = g hold outputs line(g) and line(g) + 8. Otherwise kLines says how a descriptor
/// addresses outputs (matmul_plan.h).
template <class Weight>
struct OnHopper;

template <>
struct OnHopper<WeightF32> {
  static constexpr bool kInRegisters = true;
  static constexpr uint32_t kBytes = kHeadOutputs * kHopperDepth * 4, kBoxBytes = kHeadOutputs * 128;

  static CUtensorMap map(const HeadWeight& w) {
    return tensor_map(static_cast<const float*>(w.data), w.outputs, w.depth, w.pitch, kHeadOutputs, "the head");
  }
  static __device__ __forceinline__ void copy(unsigned char* to, const CUtensorMap& map, int output0, int k0,
                                              uint64_t* barrier) {
#pragma unroll
    for (int i = 0; i < kHopperDepth / 32; ++i) copy_box(to + i * kBoxBytes, map, k0 + 32 * i, output0, barrier);
  }
  /// Even lines first: under the swizzle, the half-warp that reads at the same time then uses all 32 banks.
  static __device__ __forceinline__ int line(int g) { return g % 4 * 2 + g / 4; }

  template <int kUsed>
  static __device__ __forceinline__ void fragment(const unsigned char* stage, int output, int k,
                                                  uint32_t (&parts)[kUsed][4]) {
    const int lane = threadIdx.x % 32, row = output + line(lane / 4), column = k % 32 + lane % 4 * 2;
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const uint32_t byte = k / 32 * kBoxBytes + (row + r % 2 * 8) * 128 + (column + r / 2 * 8) * 4;
      const float2 pair = *reinterpret_cast<const float2*>(stage + swizzle128(byte));
      split_pair(pair.x, pair.y, parts, r);
    }
  }
};

/// Weights stored as [depth, outputs], copied in boxes of 64 k by 32 outputs.
template <>
struct OnHopper<WeightF32Transposed> {
  static constexpr bool kInRegisters = true;
  static constexpr uint32_t kBytes = kHeadOutputs * kHopperDepth * 4, kBoxBytes = kHopperDepth * 128;

  static CUtensorMap map(const HeadWeight& w) {
    return tensor_map(static_cast<const float*>(w.data), w.depth, w.outputs, w.pitch, kHopperDepth, "the head");
  }
  static __device__ __forceinline__ void copy(unsigned char* to, const CUtensorMap& map, int output0, int k0,
                                              uint64_t* barrier) {
#pragma unroll
    for (int i = 0; i < kHeadOutputs / 32; ++i) copy_box(to + i * kBoxBytes, map, output0 + 32 * i, k0, barrier);
  }
  static __device__ __forceinline__ int line(int g) { return g; }

  template <int kUsed>
  static __device__ __forceinline__ void fragment(const unsigned char* stage, int output, int k,
                                                  uint32_t (&parts)[kUsed][4]) {
    const int lane = threadIdx.x % 32, row = k + lane % 4 * 2, column = output % 32 + lane / 4;
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const uint32_t byte = output / 32 * kBoxBytes + (row + r / 2 * 8) * 128 + (column + r % 2 * 8) * 4;
      split_pair(*reinterpret_cast<const float*>(stage + swizzle128(byte)),
                 *reinterpret_cast<const float*>(stage + swizzle128(byte + 128)), parts, r);
    }
  }
};

template <>
struct OnHopper<WeightBf16> {
  static constexpr bool kInRegisters = false, kLines = false;
  static constexpr uint32_t kBytes = kHeadOutputs * kHopperDepth * 2;

  static CUtensorMap map(const HeadWeight& w) {
    return tensor_map(static_cast<const __nv_bfloat16*>(w.data), w.outputs, w.depth, w.pitch, kHeadOutputs, "the head");
  }
  static __device__ __forceinline__ void copy(unsigned char* to, const CUtensorMap& map, int output0, int k0,
                                              uint64_t* barrier) {
    copy_box(to, map, k0, output0, barrier);
  }
  static __device__ __forceinline__ int line(int g) { return g; }
};

template <>
struct OnHopper<WeightBf16Transposed> {
  static constexpr bool kInRegisters = false, kLines = true;
  static constexpr uint32_t kBytes = kHeadOutputs * kHopperDepth * 2;

  static CUtensorMap map(const HeadWeight& w) {
    return tensor_map(static_cast<const __nv_bfloat16*>(w.data), w.depth, w.outputs, w.pitch, kHopperDepth, "the head");
  }
  static __device__ __forceinline__ void copy(unsigned char* to, const CUtensorMap& map, int output0, int k0,
                                              uint64_t* barrier) {
#pragma unroll
    for (int i = 0; i < kHeadOutputs; i += 64) copy_box(to + hopper_byte(kLines, i, 0), map, output0 + i, k0, barrier);
  }
  static __device__ __forceinline__ int line(int g) { return g; }
};

}  // namespace hone::kernels::cuda
