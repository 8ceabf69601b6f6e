// Replaces the CUDA toolkit's header: bf16 types and conversions, which round to nearest even and keep NaN.
#pragma once

#include "core/tensor.h"
#include "cuda_runtime.h"

struct __nv_bfloat16 {
  unsigned short bits;
  __nv_bfloat16() = default;
  __nv_bfloat16(float x) : bits(hone::f32_to_bf16(x)) {}
  operator float() const { return hone::bf16_to_f32(bits); }
};
struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

inline __nv_bfloat16 __float2bfloat16(float x) { return x; }
inline __nv_bfloat16 __float2bfloat16_rn(float x) { return x; }
inline float __bfloat162float(__nv_bfloat16 x) { return x; }
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {x, y}; }
inline __nv_bfloat162 __float22bfloat162_rn(float2 v) { return {v.x, v.y}; }
inline float2 __bfloat1622float2(__nv_bfloat162 v) { return {v.x, v.y}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline float __low2float(__nv_bfloat162 v) { return v.x; }
inline float __high2float(__nv_bfloat162 v) { return v.y; }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  __nv_bfloat16 x;
  x.bits = bits;
  return x;
}

// The toolkit's bf16 operators, which round after each operation, are deleted: Hone's kernels must convert to
// f32 explicitly.
#define HONE_SHIM_NO_OPERATOR(op) __nv_bfloat16 operator op(__nv_bfloat16, __nv_bfloat16) = delete;
HONE_SHIM_NO_OPERATOR(+)
HONE_SHIM_NO_OPERATOR(-)
HONE_SHIM_NO_OPERATOR(*)
HONE_SHIM_NO_OPERATOR(/)
#undef HONE_SHIM_NO_OPERATOR
