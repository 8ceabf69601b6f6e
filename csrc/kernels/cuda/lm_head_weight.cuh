// Layout of a block of the output head's weights in shared memory, and its conversion to fragments of the
// tensor core.
//
// An f32 weight is split, when loaded, into bf16 parts w = hi + mid + lo, each the rounding of the remainder
// of the previous ones: 8 + 8 + 8 bits hold f32's 24, so that with h in bf16 every product is exact. Storing
// the parts instead would take 6 bytes per weight besides the 4 that decoding reads anyway, and half as much
// time again.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>

#include "kernels/cuda/async.cuh"
#include "kernels/cuda/mma.cuh"
#include "kernels/cuda/scratch.h"

namespace hone::kernels::cuda {

inline constexpr int kHeadThreads = 256;
inline constexpr int kHeadDepth = 32;     // k of a stage

/// Two values as a bf16 pair, the first in the lower half, rounded to nearest even.
__device__ __forceinline__ uint32_t pack_bf16(float first, float second) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
  return *reinterpret_cast<const uint32_t*>(&pair);
}

/// Splits two consecutive k of a weight: fragment register `r` of each part.
template <int kParts>
__device__ __forceinline__ void split_pair(float first, float second, uint32_t (&parts)[kParts][4], int r) {
#pragma unroll
  for (int p = 0; p < kParts; ++p) {
    const uint32_t pair = pack_bf16(first, second);
    parts[p][r] = pair;
    first -= __uint_as_float(pair << 16);
    second -= __uint_as_float(pair & 0xffff0000u);
  }
}

/// The head's matrix: `outputs` x `depth`, row-major, rows `pitch` apart; kTransposed: stored as [depth,
/// outputs]. Sizes along a row are multiples of 8.
struct HeadWeight {
  const void* data;
  int64_t pitch;
  int outputs, depth;
};

/// f32 weights. Stage in shared memory [outputs][k]: eight 16-byte pieces per row, permuted so that a
/// half-warp's 8-byte reads hit all banks.
struct WeightF32 {
  static constexpr int kParts = 3, kBytes = kHeadOutputs * kHeadDepth * 4;

  static __device__ __forceinline__ void fetch(char* shared, const HeadWeight& w, int output0, int k0) {
    const float* const data = static_cast<const float*>(w.data);
    for (int i = threadIdx.x; i < kHeadOutputs * 8; i += kHeadThreads) {
      const int row = i / 8, piece = i % 8, k = k0 + piece * 4;
      const bool valid = output0 + row < w.outputs && k < w.depth;
      cp_async16(shared + row * 128 + (piece ^ (row & 3) * 2) * 16,
                 valid ? data + int64_t(output0 + row) * w.pitch + k : data, valid);
    }
  }
  template <int kUsed>
  static __device__ __forceinline__ void fragment(const char* shared, int output, int k, uint32_t (&parts)[kUsed][4]) {
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int row = output + g + r % 2 * 8, column = k + t * 2 + r / 2 * 8;
      const float2 pair = *reinterpret_cast<const float2*>(shared + row * 128 + ((column / 4) ^ (row & 3) * 2) * 16 +
                                                           column % 4 * 4);
      split_pair(pair.x, pair.y, parts, r);
    }
  }
};

/// The transpose of f32 weights, for dh. Stage [k][outputs], whose rows are four floats longer to avoid bank
/// conflicts.
struct WeightF32Transposed {
  static constexpr int kParts = 1, kPitch = kHeadOutputs + 4, kBytes = kHeadDepth * kPitch * 4;

  static __device__ __forceinline__ void fetch(char* shared, const HeadWeight& w, int output0, int k0) {
    const float* const data = static_cast<const float*>(w.data);
    for (int i = threadIdx.x; i < kHeadDepth * 32; i += kHeadThreads) {
      const int row = i / 32, column = i % 32 * 4;
      const bool valid = k0 + row < w.depth && output0 + column < w.outputs;
      cp_async16(shared + (row * kPitch + column) * 4,
                 valid ? data + int64_t(k0 + row) * w.pitch + output0 + column : data, valid);
    }
  }
  template <int kUsed>
  static __device__ __forceinline__ void fragment(const char* shared, int output, int k, uint32_t (&parts)[kUsed][4]) {
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const float* const tile = reinterpret_cast<const float*>(shared);
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const float* const first = tile + (k + t * 2 + r / 2 * 8) * kPitch + output + g + r % 2 * 8;
      split_pair(first[0], first[kPitch], parts, r);
    }
  }
};

/// bf16 weights (tied to the embedding), which need only one part. Four 16-byte pieces per row.
struct WeightBf16 {
  static constexpr int kParts = 1, kBytes = kHeadOutputs * kHeadDepth * 2;

  static __device__ __forceinline__ int offset(int row, int piece) { return row * 64 + (piece ^ (row >> 1 & 3)) * 16; }
  static __device__ __forceinline__ void fetch(char* shared, const HeadWeight& w, int output0, int k0) {
    const __nv_bfloat16* const data = static_cast<const __nv_bfloat16*>(w.data);
    for (int i = threadIdx.x; i < kHeadOutputs * 4; i += kHeadThreads) {
      const int row = i / 4, piece = i % 4, k = k0 + piece * 8;
      const bool valid = output0 + row < w.outputs && k < w.depth;
      cp_async16(shared + offset(row, piece), valid ? data + int64_t(output0 + row) * w.pitch + k : data, valid);
    }
  }
  template <int kUsed>
  static __device__ __forceinline__ void fragment(const char* shared, int output, int k, uint32_t (&parts)[kUsed][4]) {
    const int lane = threadIdx.x % 32, matrix = lane / 8;
    ldmatrix_x4(parts[0], shared + offset(output + matrix % 2 * 8 + lane % 8, k / 8 + matrix / 2));
  }
};

/// The transpose of bf16 weights. Stage [k][outputs], sixteen 16-byte pieces per row.
struct WeightBf16Transposed {
  static constexpr int kParts = 1, kBytes = kHeadOutputs * kHeadDepth * 2;

  static __device__ __forceinline__ int offset(int row, int piece) { return row * 256 + (piece ^ (row & 7)) * 16; }
  static __device__ __forceinline__ void fetch(char* shared, const HeadWeight& w, int output0, int k0) {
    const __nv_bfloat16* const data = static_cast<const __nv_bfloat16*>(w.data);
    for (int i = threadIdx.x; i < kHeadDepth * 16; i += kHeadThreads) {
      const int row = i / 16, piece = i % 16, output = output0 + piece * 8;
      const bool valid = k0 + row < w.depth && output < w.outputs;
      cp_async16(shared + offset(row, piece), valid ? data + int64_t(k0 + row) * w.pitch + output : data, valid);
    }
  }
  template <int kUsed>
  static __device__ __forceinline__ void fragment(const char* shared, int output, int k, uint32_t (&parts)[kUsed][4]) {
    const int lane = threadIdx.x % 32, matrix = lane / 8;
    ldmatrix_x4_trans(parts[0], shared + offset(k + matrix / 2 * 8 + lane % 8, output / 8 + matrix % 2));
  }
};

}  // namespace hone::kernels::cuda
