// Vectors of eight values: 16 bytes of bf16 or 32 of f32 in memory. Arithmetic is in f32.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>

#include "core/error.h"
#include "core/tensor.h"

namespace hone::kernels::cuda {

using bf16 = __nv_bfloat16;

struct Eight {
  float at[8];
};

/// True if every row of the view may be read by whole vectors from its start.
inline bool is_wide(const TensorView& view) {
  const bool aligned_rows = view.rank < 2 || view.row_stride * dtype_bytes(view.dtype) % 16 == 0;
  return reinterpret_cast<uintptr_t>(view.data) % 16 == 0 && aligned_rows;
}

__device__ __forceinline__ float to_f32(bf16 x) { return __bfloat162float(x); }
__device__ __forceinline__ float to_f32(float x) { return x; }
__device__ __forceinline__ void round_to(bf16& to, float x) { to = __float2bfloat16_rn(x); }
__device__ __forceinline__ void round_to(float& to, float x) { to = x; }

__device__ __forceinline__ Eight load_vector(const bf16* p) {
  const uint4 raw = *reinterpret_cast<const uint4*>(p);
  const uint32_t pairs[4] = {raw.x, raw.y, raw.z, raw.w};
  Eight out;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    out.at[2 * i] = __uint_as_float(pairs[i] << 16);
    out.at[2 * i + 1] = __uint_as_float(pairs[i] & 0xffff0000u);
  }
  return out;
}
__device__ __forceinline__ Eight load_vector(const float* p) {
  const float4 low = reinterpret_cast<const float4*>(p)[0], high = reinterpret_cast<const float4*>(p)[1];
  return {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
}

/// Two values as a bf16 pair, rounded to nearest even; `low` in the lower half.
__device__ __forceinline__ uint32_t pack_bf16(float low, float high) {
  return uint32_t(__bfloat16_as_ushort(__float2bfloat16_rn(low))) |
         uint32_t(__bfloat16_as_ushort(__float2bfloat16_rn(high))) << 16;
}

__device__ __forceinline__ void store_vector(bf16* p, const Eight& v) {
  *reinterpret_cast<uint4*>(p) = make_uint4(pack_bf16(v.at[0], v.at[1]), pack_bf16(v.at[2], v.at[3]),
                                            pack_bf16(v.at[4], v.at[5]), pack_bf16(v.at[6], v.at[7]));
}
__device__ __forceinline__ void store_vector(float* p, const Eight& v) {
  reinterpret_cast<float4*>(p)[0] = make_float4(v.at[0], v.at[1], v.at[2], v.at[3]);
  reinterpret_cast<float4*>(p)[1] = make_float4(v.at[4], v.at[5], v.at[6], v.at[7]);
}

/// Loads the next `left` values, at most eight; the others become zeros.
template <class T>
__device__ __forceinline__ Eight load_eight(const T* p, int64_t left, bool wide) {
  if (wide && left >= 8) return load_vector(p);
  Eight out;
#pragma unroll
  for (int i = 0; i < 8; ++i) out.at[i] = i < left ? to_f32(p[i]) : 0.0f;
  return out;
}
template <class T>
__device__ __forceinline__ void store_eight(T* p, const Eight& v, int64_t left, bool wide) {
  if (wide && left >= 8) return store_vector(p, v);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (i < left) round_to(p[i], v.at[i]);
  }
}

/// A second copy of values that a kernel writes: rounded to bf16, unchanged, or none.
struct SecondCopy {
  bf16* rounded;
  float* exact;

  static SecondCopy of(const TensorView& to) {
    return to.dtype == DType::kBF16 ? SecondCopy{to.as<bf16>(), nullptr} : SecondCopy{nullptr, to.as<float>()};
  }
  __device__ __forceinline__ void store(int64_t i, const Eight& v, int64_t left, bool wide) const {
    if (rounded) store_eight(rounded + i, v, left, wide);
    else if (exact) store_eight(exact + i, v, left, wide);
  }
};

/// Number of blocks of `threads` threads that cover n items. Throws kShape if 32 bits cannot count their
/// threads.
inline unsigned blocks_for(int64_t n, int threads) {
  if (n > int64_t(UINT32_MAX) - threads) fail(Code::kShape, "a kernel cannot count %lld items.", (long long)n);
  return unsigned((n + threads - 1) / threads);
}

/// This thread's item in a launch over blocks_for(items), and its row and piece of that row, with `pieces`
/// items per row. Indices have 32 bits, because dividing 64-bit numbers is a function call.
struct Item {
  uint32_t index, row, piece;
  __device__ __forceinline__ explicit Item(int64_t pieces)
      : index(blockIdx.x * blockDim.x + threadIdx.x), row(index / uint32_t(pieces)), piece(index % uint32_t(pieces)) {}
};

}  // namespace hone::kernels::cuda
