// Pairs of bf16 numbers in sixteen 32-bit lanes, and the sum of their products in f32: by AVX512-BF16's
// vdpbf16ps, or by other instructions that give its bits. Included only by isa_*.cc, after simd.h.
//
// vdpbf16ps computes (by Intel's manual and by experiment on a Zen 5) sum <- fma(a.high, b.high, sum), then
// sum <- fma(a.low, b.low, sum), each rounded to nearest even. Denormal operands and sums count as zeros of
// their sign, and a result that is denormal after rounding to 24 bits becomes zero. MXCSR is neither read nor
// written. The high half comes first, so it holds the even index here, which makes the sum ascend.
#pragma once

#include "kernels/cpu/simd.h"

namespace hone::kernels::cpu::HONE_ISA {

/// Zero of x's sign where x is denormal, else x.
inline float without_denormal(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, 4);
  if ((bits & 0x7f800000u) == 0) bits &= 0x80000000u;
  __builtin_memcpy(&x, &bits, 4);
  return x;
}
/// The bf16 numbers nearest to `first` (in the high half) and `second`. Flush: denormal numbers count as
/// zeros, as in vcvtne2ps2bf16.
template <bool Flush>
inline uint32_t pair_of(float first, float second) {
  if (Flush) first = without_denormal(first), second = without_denormal(second);
  return uint32_t(narrow_bf16(first)) << 16 | narrow_bf16(second);
}

#if defined(__AVX2__)
/// While an object exists, its thread's vector unit reads and writes denormal numbers as zeros.
class FlushDenormals {
 public:
  FlushDenormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040u); }  // FTZ and DAZ
  ~FlushDenormals() { _mm_setcsr(before_); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  unsigned before_;
};
/// a + b, where denormal numbers count as zeros. Requires FlushDenormals.
inline F16 add_flushed(F16 a, F16 b) { return add(a, b); }
#endif

#if defined(__AVX512F__)

struct Pairs16 {
  __m512i v;
};
inline Pairs16 splat(uint32_t x) { return {_mm512_set1_epi32(int(x))}; }
inline Pairs16 load(const uint32_t* p) { return {_mm512_loadu_si512(p)}; }
inline void store(uint32_t* p, Pairs16 a) { _mm512_storeu_si512(p, a.v); }

/// The bf16 nearest to each lane, in the lane's high half; the low half is zero.
template <bool Flush>
inline __m512i narrow_high(F16 x) {
  const __m512i bits = _mm512_castps_si512(x.v), odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i magnitude = _mm512_and_si512(bits, _mm512_set1_epi32(0x7fffffff));
  __m512i out = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
  const __mmask16 nan = _mm512_cmpgt_epi32_mask(magnitude, _mm512_set1_epi32(0x7f800000));
  out = _mm512_mask_or_epi32(out, nan, bits, _mm512_set1_epi32(0x400000));
  if (Flush) {
    const __mmask16 small = _mm512_testn_epi32_mask(bits, _mm512_set1_epi32(0x7f800000));
    out = _mm512_mask_mov_epi32(out, small, bits);
    return _mm512_and_si512(out, _mm512_mask_mov_epi32(_mm512_set1_epi32(int(0xffff0000u)), small,
                                                       _mm512_set1_epi32(int(0x80000000u))));
  }
  return _mm512_and_si512(out, _mm512_set1_epi32(int(0xffff0000u)));
}
/// pair_of<Flush>(first, second) in each lane.
template <bool Flush>
inline Pairs16 round_pairs(F16 first, F16 second) {
  return {_mm512_or_si512(narrow_high<Flush>(first), _mm512_srli_epi32(narrow_high<Flush>(second), 16))};
}

#if defined(__AVX512BF16__)
inline F16 fma(Pairs16 a, Pairs16 b, F16 c) { return {_mm512_dpbf16_ps(c.v, (__m512bh)a.v, (__m512bh)b.v)}; }
#else
inline F16 high_numbers(Pairs16 a) {
  return {_mm512_castsi512_ps(_mm512_and_si512(a.v, _mm512_set1_epi32(int(0xffff0000u))))};
}
inline F16 low_numbers(Pairs16 a) { return {_mm512_castsi512_ps(_mm512_slli_epi32(a.v, 16))}; }
#endif

#elif defined(__AVX2__)

struct Pairs16 {
  __m256i a, b;
};
inline Pairs16 splat(uint32_t x) { return {_mm256_set1_epi32(int(x)), _mm256_set1_epi32(int(x))}; }
inline Pairs16 load(const uint32_t* p) {
  return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 8))};
}
inline F16 high_numbers(Pairs16 x) {
  const __m256i mask = _mm256_set1_epi32(int(0xffff0000u));
  return {_mm256_castsi256_ps(_mm256_and_si256(x.a, mask)), _mm256_castsi256_ps(_mm256_and_si256(x.b, mask))};
}
inline F16 low_numbers(Pairs16 x) {
  return {_mm256_castsi256_ps(_mm256_slli_epi32(x.a, 16)), _mm256_castsi256_ps(_mm256_slli_epi32(x.b, 16))};
}
inline void store(uint32_t* p, Pairs16 x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x.a);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 8), x.b);
}

#elif defined(HONE_NEON)

struct Pairs16 {
  uint32x4_t a, b, c, d;
};
inline Pairs16 splat(uint32_t x) { return {vdupq_n_u32(x), vdupq_n_u32(x), vdupq_n_u32(x), vdupq_n_u32(x)}; }
inline Pairs16 load(const uint32_t* p) { return {vld1q_u32(p), vld1q_u32(p + 4), vld1q_u32(p + 8), vld1q_u32(p + 12)}; }
inline void store(uint32_t* p, Pairs16 x) { vst1q_u32(p, x.a); vst1q_u32(p + 4, x.b); vst1q_u32(p + 8, x.c); vst1q_u32(p + 12, x.d); }

// ARM flushes denormal results before rounding, x86 after it; so steps() flushes them itself
class FlushDenormals {};

inline float32x4_t without_denormals(uint32x4_t bits) {
  const uint32x4_t normal = vtstq_u32(bits, vdupq_n_u32(0x7f800000u));
  return vreinterpretq_f32_u32(vandq_u32(bits, vorrq_u32(normal, vdupq_n_u32(0x80000000u))));
}
inline float32x4_t without_denormals(float32x4_t x) { return without_denormals(vreinterpretq_u32_f32(x)); }
/// step() in four lanes; no number may be denormal.
inline float32x4_t steps(float32x4_t a, float32x4_t b, float32x4_t c) {
  const float64x2_t low = vfmaq_f64(vcvt_f64_f32(vget_low_f32(c)), vcvt_f64_f32(vget_low_f32(a)), vcvt_f64_f32(vget_low_f32(b)));
  const float64x2_t high = vfmaq_f64(vcvt_high_f64_f32(c), vcvt_high_f64_f32(a), vcvt_high_f64_f32(b));
  const float64x2_t least = vdupq_n_f64(0x1.ffffffp-127);
  const uint32x4_t tiny = vuzp1q_u32(vreinterpretq_u32_u64(vcaltq_f64(low, least)), vreinterpretq_u32_u64(vcaltq_f64(high, least)));
  const uint32x4_t sum = vreinterpretq_u32_f32(vcvt_high_f32_f64(vcvt_f32_f64(low), high));
  return vreinterpretq_f32_u32(vbicq_u32(sum, vandq_u32(tiny, vdupq_n_u32(0x7fffffffu))));
}
inline float32x4_t add_flushed4(float32x4_t a, float32x4_t b) {
  return steps(vdupq_n_f32(1.0f), without_denormals(a), without_denormals(b));
}
inline F16 add_flushed(F16 x, F16 y) { return HONE_QUARTERS(add_flushed4, x, y); }
inline float32x4_t fma4(uint32x4_t a, uint32x4_t b, float32x4_t c) {
  const uint32x4_t high = vdupq_n_u32(0xffff0000u);
  c = steps(without_denormals(vandq_u32(a, high)), without_denormals(vandq_u32(b, high)), without_denormals(c));
  return steps(without_denormals(vshlq_n_u32(a, 16)), without_denormals(vshlq_n_u32(b, 16)), c);
}
inline F16 fma(Pairs16 x, Pairs16 y, F16 z) {
  return {fma4(x.a, y.a, z.a), fma4(x.b, y.b, z.b), fma4(x.c, y.c, z.c), fma4(x.d, y.d, z.d)};
}

#else

struct Pairs16 {
  uint32_t v[16];
};
inline Pairs16 load(const uint32_t* p) {
  Pairs16 out;
  for (int i = 0; i < 16; ++i) out.v[i] = p[i];
  return out;
}
inline Pairs16 splat(uint32_t x) {
  Pairs16 out;
  for (int i = 0; i < 16; ++i) out.v[i] = x;
  return out;
}
inline void store(uint32_t* p, Pairs16 a) {
  for (int i = 0; i < 16; ++i) p[i] = a.v[i];
}

class FlushDenormals {};  // step() flushes denormal numbers itself

/// a b + c for numbers that are not denormal; a b is exact in f64. Rounding to 53 bits before rounding to
/// f32's 24 changes nothing (Figueroa, 1995). A result below 2^-126 - 2^-151 rounds to less than the smallest
/// normal number and becomes zero.
inline float step(float a, float b, float c) {
  const double sum = double(a) * double(b) + double(without_denormal(c));
  if (sum < 0x1.ffffffp-127 && sum > -0x1.ffffffp-127) return __builtin_copysignf(0.0f, float(__builtin_copysign(1.0, sum)));
  return float(sum);
}
inline F16 add_flushed(F16 a, F16 b) {
  F16 out;
  for (int i = 0; i < 16; ++i) out.v[i] = step(1.0f, without_denormal(a.v[i]), b.v[i]);
  return out;
}
inline F16 fma(Pairs16 a, Pairs16 b, F16 c) {
  for (int i = 0; i < 16; ++i) {
    const float first = step(without_denormal(widen(uint16_t(a.v[i] >> 16))), without_denormal(widen(uint16_t(b.v[i] >> 16))), c.v[i]);
    c.v[i] = step(without_denormal(widen(uint16_t(a.v[i]))), without_denormal(widen(uint16_t(b.v[i]))), first);
  }
  return c;
}

#endif

#if defined(__AVX2__) && !defined(__AVX512BF16__)
/// Fused multiply-add of bf16 pairs by AVX2 instructions. Requires FlushDenormals.
inline F16 fma(Pairs16 a, Pairs16 b, F16 c) {
  return fma(low_numbers(a), low_numbers(b), fma(high_numbers(a), high_numbers(b), c));
}
#endif
#if !defined(__AVX512F__)
template <bool Flush>
inline Pairs16 round_pairs(F16 first, F16 second) {
  float f[16], s[16];
  uint32_t pairs[16];
  store(f, first);
  store(s, second);
  for (int i = 0; i < 16; ++i) pairs[i] = pair_of<Flush>(f[i], s[i]);
  return load(pairs);
}
#endif

/// out[i] = bf16 pair of x[2 i] and x[2 i + 1], i < n / 2; if n is odd, the last pair has zero as its second
/// number.
inline void pair_row(const float* x, int64_t n, uint32_t* out) {
  int64_t i = 0;
#if defined(__AVX512BF16__)
  for (; i + 32 <= n; i += 32) {
    const __m512bh both = _mm512_cvtne2ps_pbh(_mm512_loadu_ps(x + i + 16), _mm512_loadu_ps(x + i));
    _mm512_storeu_si512(out + i / 2, _mm512_ror_epi32((__m512i)both, 16));
  }
#endif
  for (; i + 2 <= n; i += 2) out[i / 2] = pair_of<true>(x[i], x[i + 1]);
  if (i < n) out[i / 2] = pair_of<true>(x[i], 0.0f);
}

}  // namespace hone::kernels::cpu::HONE_ISA
