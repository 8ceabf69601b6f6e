// Vectors of sixteen f32 lanes for every instruction set, so that each kernel is written once and gives the
// same bits on AVX2, AVX-512 and NEON. Included only by isa_*.cc, where HONE_ISA names the namespace.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(HONE_NEON)
#include "kernels/cpu/simd_neon.h"
#endif

#include <cstdint>

namespace hone::kernels::cpu::HONE_ISA {

/// widen: bf16 to f32. narrow: f32 to the nearest bf16 (ties to even; NaN stays NaN). Both repeat
/// core/tensor.h, whose functions may not be inlined into code for one instruction set.
inline float widen(uint16_t x) {
  const uint32_t bits = uint32_t(x) << 16;
  float out;
  __builtin_memcpy(&out, &bits, 4);
  return out;
}
inline uint16_t narrow_bf16(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, 4);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return uint16_t((bits >> 16) | 0x40);
  return uint16_t((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}
inline void put(float* p, float x) { *p = x; }
inline void put(uint16_t* p, float x) { *p = narrow_bf16(x); }

#if defined(__AVX512F__)

struct F16 {
  __m512 v;
};
inline F16 zero() { return {_mm512_setzero_ps()}; }
inline F16 splat(float x) { return {_mm512_set1_ps(x)}; }
inline F16 load(const float* p) { return {_mm512_loadu_ps(p)}; }
inline void store(float* p, F16 a) { _mm512_storeu_ps(p, a.v); }
inline __mmask16 lanes(int n) { return n >= 16 ? __mmask16(0xffff) : __mmask16((1u << n) - 1); }
/// Loads the first n lanes; the other lanes get `fill`. Reads nothing beyond p[n - 1].
inline F16 load_n(const float* p, int n, float fill = 0.0f) {
  return {_mm512_mask_loadu_ps(_mm512_set1_ps(fill), lanes(n), p)};
}
inline void store_n(float* p, F16 a, int n) { _mm512_mask_storeu_ps(p, lanes(n), a.v); }
/// A mask of the first n lanes, made once for a loop over rows of one width.
struct Lanes {
  __mmask16 mask;
};
inline Lanes first_lanes(int n) { return {lanes(n)}; }
inline F16 load(const float* p, Lanes n) { return {_mm512_maskz_loadu_ps(n.mask, p)}; }
inline void store(float* p, F16 a, Lanes n) { _mm512_mask_storeu_ps(p, n.mask, a.v); }
inline F16 load(const uint16_t* p) {
  return {_mm512_castsi512_ps(
      _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))), 16))};
}
inline F16 load(const uint16_t* p, Lanes n) {
  return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(n.mask, p)), 16))};
}
inline F16 add(F16 a, F16 b) { return {_mm512_add_ps(a.v, b.v)}; }
inline F16 sub(F16 a, F16 b) { return {_mm512_sub_ps(a.v, b.v)}; }
inline F16 mul(F16 a, F16 b) { return {_mm512_mul_ps(a.v, b.v)}; }
inline F16 div(F16 a, F16 b) { return {_mm512_div_ps(a.v, b.v)}; }
inline F16 fma(F16 a, F16 b, F16 c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }  // a b + c, rounded once
inline F16 max(F16 a, F16 b) { return {_mm512_max_ps(a.v, b.v)}; }
inline F16 min(F16 a, F16 b) { return {_mm512_min_ps(a.v, b.v)}; }
inline F16 sqrt(F16 a) { return {_mm512_sqrt_ps(a.v)}; }
/// Lanes [low, high) of a; `fill` in the other lanes.
inline F16 keep_range(F16 a, int low, int high, float fill) {
  return {_mm512_mask_blend_ps(__mmask16(lanes(high) & ~lanes(low)), _mm512_set1_ps(fill), a.v)};
}
inline F16 round(F16 a) { return {_mm512_roundscale_ps(a.v, 8)}; }  // rounds to integers, ties to even
/// a 2^n for integral n up to 127; 0 if n < -125; a + n if n is NaN.
inline F16 scale2_or_zero(F16 a, F16 n) {
  return {_mm512_maskz_scalef_ps(_mm512_cmp_ps_mask(n.v, _mm512_set1_ps(-125.0f), _CMP_NLT_UQ), a.v, n.v)};
}

/// Transposes 16 x 16: out[j * out_step + i] = in[i * in_step + j].
inline void transpose16(const float* in, int64_t in_step, float* out, int64_t out_step) {
  __m512 r[16], t[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) r[i] = _mm512_loadu_ps(in + i * in_step);
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
  }
#pragma GCC unroll 8
  // 128-bit lane group l of r[4 g + c] gets column 4 l + c of rows 4 g to 4 g + 3
  for (int i = 0; i < 16; i += 2) {
    const int g = i / 4 * 4, h = i % 4 / 2;
    const __m512d a = _mm512_castps_pd(t[g + h]), b = _mm512_castps_pd(t[g + h + 2]);
    r[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
    r[i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
  }
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    const __m512 even0 = _mm512_shuffle_f32x4(r[c], r[4 + c], 0x88), odd0 = _mm512_shuffle_f32x4(r[c], r[4 + c], 0xdd);
    const __m512 even1 = _mm512_shuffle_f32x4(r[8 + c], r[12 + c], 0x88);
    const __m512 odd1 = _mm512_shuffle_f32x4(r[8 + c], r[12 + c], 0xdd);
    _mm512_storeu_ps(out + c * out_step, _mm512_shuffle_f32x4(even0, even1, 0x88));
    _mm512_storeu_ps(out + (4 + c) * out_step, _mm512_shuffle_f32x4(odd0, odd1, 0x88));
    _mm512_storeu_ps(out + (8 + c) * out_step, _mm512_shuffle_f32x4(even0, even1, 0xdd));
    _mm512_storeu_ps(out + (12 + c) * out_step, _mm512_shuffle_f32x4(odd0, odd1, 0xdd));
  }
}

#elif defined(__AVX2__)

struct F16 {
  __m256 a, b;
};
inline F16 zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
inline F16 splat(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
inline F16 load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
inline void store(float* p, F16 x) { _mm256_storeu_ps(p, x.a); _mm256_storeu_ps(p + 8, x.b); }
/// All bits set in those of eight lanes whose index is below n.
inline __m256i lanes8(int n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline __m256 load8(const float* p, int n, float fill) {
  const __m256i keep = lanes8(n);
  return _mm256_blendv_ps(_mm256_set1_ps(fill), _mm256_maskload_ps(p, keep), _mm256_castsi256_ps(keep));
}
inline F16 load_n(const float* p, int n, float fill = 0.0f) { return {load8(p, n, fill), load8(p + 8, n - 8, fill)}; }
inline void store_n(float* p, F16 x, int n) {
  _mm256_maskstore_ps(p, lanes8(n), x.a);
  _mm256_maskstore_ps(p + 8, lanes8(n - 8), x.b);
}
/// Masks of the first n lanes, made once for a loop over rows of one width.
struct Lanes {
  __m256i a, b;
};
inline Lanes first_lanes(int n) { return {lanes8(n), lanes8(n - 8)}; }
inline F16 load(const float* p, Lanes n) { return {_mm256_maskload_ps(p, n.a), _mm256_maskload_ps(p + 8, n.b)}; }
inline void store(float* p, F16 x, Lanes n) {
  _mm256_maskstore_ps(p, n.a, x.a);
  _mm256_maskstore_ps(p + 8, n.b, x.b);
}
inline __m256 widen_bf16(__m128i x) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16)); }
inline F16 load(const uint16_t* p) {
  return {widen_bf16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))),
          widen_bf16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 8)))};
}
inline F16 load(const uint16_t* p, Lanes n) {
  alignas(16) uint16_t some[16] = {};  // AVX2 has no masked load of 16-bit values
  const int count = __builtin_popcount(unsigned(_mm256_movemask_ps(_mm256_castsi256_ps(n.a))) |
                                       unsigned(_mm256_movemask_ps(_mm256_castsi256_ps(n.b))) << 8);
  for (int i = 0; i < count; ++i) some[i] = p[i];
  return load(some);
}
inline F16 add(F16 x, F16 y) { return {_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b)}; }
inline F16 sub(F16 x, F16 y) { return {_mm256_sub_ps(x.a, y.a), _mm256_sub_ps(x.b, y.b)}; }
inline F16 mul(F16 x, F16 y) { return {_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)}; }
inline F16 div(F16 x, F16 y) { return {_mm256_div_ps(x.a, y.a), _mm256_div_ps(x.b, y.b)}; }
inline F16 fma(F16 x, F16 y, F16 z) { return {_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)}; }
inline F16 max(F16 x, F16 y) { return {_mm256_max_ps(x.a, y.a), _mm256_max_ps(x.b, y.b)}; }
inline F16 min(F16 x, F16 y) { return {_mm256_min_ps(x.a, y.a), _mm256_min_ps(x.b, y.b)}; }
inline F16 sqrt(F16 x) { return {_mm256_sqrt_ps(x.a), _mm256_sqrt_ps(x.b)}; }
inline __m256 keep_range8(__m256 x, __m256i lane, int low, int high, float fill) {
  const __m256i inside = _mm256_andnot_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(low), lane),
                                             _mm256_cmpgt_epi32(_mm256_set1_epi32(high), lane));
  return _mm256_blendv_ps(_mm256_set1_ps(fill), x, _mm256_castsi256_ps(inside));
}
/// Lanes [low, high) of x; `fill` in the other lanes.
inline F16 keep_range(F16 x, int low, int high, float fill) {
  return {keep_range8(x.a, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), low, high, fill),
          keep_range8(x.b, _mm256_setr_epi32(8, 9, 10, 11, 12, 13, 14, 15), low, high, fill)};
}
inline F16 round(F16 x) { return {_mm256_round_ps(x.a, 8), _mm256_round_ps(x.b, 8)}; }
inline __m256 power2(__m256 n) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23));
}
inline __m256 scale2_or_zero8(__m256 x, __m256 n) {
  const __m256 floor = _mm256_set1_ps(-125.0f);
  return _mm256_and_ps(_mm256_mul_ps(x, power2(_mm256_max_ps(floor, n))), _mm256_cmp_ps(n, floor, _CMP_NLT_UQ));
}
inline F16 scale2_or_zero(F16 x, F16 n) { return {scale2_or_zero8(x.a, n.a), scale2_or_zero8(x.b, n.b)}; }

inline void transpose8(const float* in, int64_t in_step, float* out, int64_t out_step) {
  __m256 r[8], t[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) r[i] = _mm256_loadu_ps(in + i * in_step);
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
#pragma GCC unroll 4
  // 128-bit lane group l of r[4 g + c] gets column 4 l + c of rows 4 g to 4 g + 3
  for (int i = 0; i < 8; i += 2) {
    const int g = i / 4 * 4, h = i % 4 / 2;
    const __m256d a = _mm256_castps_pd(t[g + h]), b = _mm256_castps_pd(t[g + h + 2]);
    r[i] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, b));
    r[i + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, b));
  }
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    _mm256_storeu_ps(out + c * out_step, _mm256_permute2f128_ps(r[c], r[4 + c], 0x20));
    _mm256_storeu_ps(out + (4 + c) * out_step, _mm256_permute2f128_ps(r[c], r[4 + c], 0x31));
  }
}
inline void transpose16(const float* in, int64_t in_step, float* out, int64_t out_step) {
  for (int i = 0; i < 16; i += 8) {
    for (int j = 0; j < 16; j += 8) transpose8(in + i * in_step + j, in_step, out + j * out_step + i, out_step);
  }
}

#elif !defined(HONE_NEON)  // any CPU: plain arrays that the compiler may vectorise; fma rounds twice

struct F16 {
  float v[16];
};
#define HONE_LANES(expr)                          \
  F16 r;                                          \
  for (int i = 0; i < 16; ++i) r.v[i] = (expr);   \
  return r
inline F16 splat(float x) { HONE_LANES(x); }
inline F16 zero() { return splat(0.0f); }
inline F16 load(const float* p) { HONE_LANES(p[i]); }
inline void store(float* p, F16 a) { for (int i = 0; i < 16; ++i) p[i] = a.v[i]; }
inline F16 load_n(const float* p, int n, float fill = 0.0f) { HONE_LANES(i < n ? p[i] : fill); }
inline void store_n(float* p, F16 a, int n) { for (int i = 0; i < n && i < 16; ++i) p[i] = a.v[i]; }
struct Lanes {
  int count;
};
inline Lanes first_lanes(int n) { return {n}; }
inline F16 load(const float* p, Lanes n) { return load_n(p, n.count); }
inline void store(float* p, F16 a, Lanes n) { store_n(p, a, n.count); }
inline F16 load(const uint16_t* p) { HONE_LANES(widen(p[i])); }
inline F16 load(const uint16_t* p, Lanes n) { HONE_LANES(i < n.count ? widen(p[i]) : 0.0f); }
inline F16 add(F16 a, F16 b) { HONE_LANES(a.v[i] + b.v[i]); }
inline F16 sub(F16 a, F16 b) { HONE_LANES(a.v[i] - b.v[i]); }
inline F16 mul(F16 a, F16 b) { HONE_LANES(a.v[i] * b.v[i]); }
inline F16 div(F16 a, F16 b) { HONE_LANES(a.v[i] / b.v[i]); }
inline F16 fma(F16 a, F16 b, F16 c) { HONE_LANES(a.v[i] * b.v[i] + c.v[i]); }
inline F16 max(F16 a, F16 b) { HONE_LANES(a.v[i] > b.v[i] ? a.v[i] : b.v[i]); }
inline F16 min(F16 a, F16 b) { HONE_LANES(a.v[i] < b.v[i] ? a.v[i] : b.v[i]); }
inline F16 sqrt(F16 a) { HONE_LANES(__builtin_sqrtf(a.v[i])); }
inline F16 keep_range(F16 a, int low, int high, float fill) { HONE_LANES(i >= low && i < high ? a.v[i] : fill); }
inline F16 round(F16 a) { HONE_LANES(__builtin_rintf(a.v[i])); }
inline float scaled(float a, float n) {
  if (n < -125.0f) return 0.0f;
  if (n != n) return a + n;
  const uint32_t b = uint32_t(int32_t(n) + 127) << 23;
  float f;
  __builtin_memcpy(&f, &b, 4);
  return a * f;
}
inline F16 scale2_or_zero(F16 a, F16 n) { HONE_LANES(scaled(a.v[i], n.v[i])); }
#undef HONE_LANES
inline void transpose16(const float* in, int64_t in_step, float* out, int64_t out_step) {
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) out[j * out_step + i] = in[i * in_step + j];
  }
}

#endif

/// Every horizontal reduction uses one tree: lane i with i + 8, then + 4, + 2, + 1, so that results are equal
/// on every instruction set.
#if defined(__AVX2__)
#if defined(__AVX512F__)
inline __m256 low_half(F16 x) { return _mm512_castps512_ps256(x.v); }
inline __m256 high_half(F16 x) { return _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(x.v), 1)); }
#else
inline __m256 low_half(F16 x) { return x.a; }
inline __m256 high_half(F16 x) { return x.b; }
#endif
inline float sum(F16 x) {
  const __m256 t = _mm256_add_ps(low_half(x), high_half(x));
  __m128 u = _mm_add_ps(_mm256_castps256_ps128(t), _mm256_extractf128_ps(t, 1));
  u = _mm_add_ps(u, _mm_movehl_ps(u, u));
  return _mm_cvtss_f32(_mm_add_ss(u, _mm_shuffle_ps(u, u, 1)));
}
/// Maximum over the lanes, none of which may be NaN (not checked).
inline float max_lane(F16 x) {
  const __m256 t = _mm256_max_ps(low_half(x), high_half(x));
  __m128 u = _mm_max_ps(_mm256_castps256_ps128(t), _mm256_extractf128_ps(t, 1));
  u = _mm_max_ps(u, _mm_movehl_ps(u, u));
  return _mm_cvtss_f32(_mm_max_ss(u, _mm_shuffle_ps(u, u, 1)));
}
#elif !defined(HONE_NEON)
inline float sum(F16 x) {
  for (int width = 8; width; width /= 2)
    for (int i = 0; i < width; ++i) x.v[i] += x.v[i + width];
  return x.v[0];
}
inline float max_lane(F16 x) {
  float m = x.v[0];
  for (int i = 1; i < 16; ++i) m = x.v[i] > m ? x.v[i] : m;
  return m;
}
#endif

/// Calls f(offset, count) over [0, n): full vectors with count 16, then at most one shorter one.
template <class F>
inline void for_lanes(int64_t n, F f) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) f(i, 16);
  if (i < n) f(i, int(n - i));
}
inline F16 load_some(const float* p, int count) { return count == 16 ? load(p) : load_n(p, count); }
inline void store_some(float* p, F16 x, int count) {
  if (count == 16) store(p, x);
  else store_n(p, x, count);
}

/// e^x with a relative error of 2e-7; exactly 0 below -86.9 (so that -inf gives 0), clamped above 88. NaN
/// stays NaN because min and max return their second operand if either is NaN, hence the order of operands.
inline F16 exp(F16 x) {
  const F16 y = min(splat(88.0f), x);
  const F16 n = round(mul(y, splat(1.44269504088896341f)));
  F16 r = fma(n, splat(-0.693359375f), y);
  r = fma(n, splat(2.12194440e-4f), r);
  F16 p = splat(1.9875691500e-4f);
  p = fma(p, r, splat(1.3981999507e-3f));
  p = fma(p, r, splat(8.3334519073e-3f));
  p = fma(p, r, splat(4.1665795894e-2f));
  p = fma(p, r, splat(1.6666665459e-1f));
  p = fma(p, r, splat(5.0000001201e-1f));
  p = fma(mul(p, r), r, add(r, splat(1.0f)));
  return scale2_or_zero(p, n);
}

}  // namespace hone::kernels::cpu::HONE_ISA
