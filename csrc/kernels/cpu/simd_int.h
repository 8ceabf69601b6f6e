// Vectors of sixteen u32 lanes, and the natural logarithm and Philox on them; the same bits on every
// instruction set.
#pragma once

#include "kernels/cpu/simd.h"

namespace hone::kernels::cpu::HONE_ISA {

#if defined(__AVX512F__)

struct U16 {
  __m512i v;
};
inline U16 splat_u32(uint32_t x) { return {_mm512_set1_epi32(int(x))}; }
inline U16 load_u32(const uint32_t* p) { return {_mm512_loadu_si512(p)}; }
inline void store_u32(uint32_t* p, U16 a) { _mm512_storeu_si512(p, a.v); }
inline U16 add(U16 a, U16 b) { return {_mm512_add_epi32(a.v, b.v)}; }
inline U16 sub(U16 a, U16 b) { return {_mm512_sub_epi32(a.v, b.v)}; }
inline U16 bit_xor(U16 a, U16 b) { return {_mm512_xor_si512(a.v, b.v)}; }
inline U16 bit_and(U16 a, U16 b) { return {_mm512_and_si512(a.v, b.v)}; }
/// 64-bit products of each lane with k, as high and low halves.
inline void multiply_wide(U16 a, uint32_t k, U16* high, U16* low) {
  const __m512i factor = _mm512_set1_epi64(int64_t(k));
  const __m512i even = _mm512_mul_epu32(a.v, factor), odd = _mm512_mul_epu32(_mm512_srli_epi64(a.v, 32), factor);
  *high = {_mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even, 32), odd)};
  *low = {_mm512_mask_blend_epi32(0xaaaa, even, _mm512_slli_epi64(odd, 32))};
}
inline F16 to_float(U16 a) { return {_mm512_cvtepu32_ps(a.v)}; }             // unsigned, to nearest
inline F16 signed_to_float(U16 a) { return {_mm512_cvtepi32_ps(a.v)}; }
inline U16 exponent_of(U16 a) { return {_mm512_srai_epi32(a.v, 23)}; }       // arithmetic shift
inline U16 bits_of(F16 a) { return {_mm512_castps_si512(a.v)}; }
inline F16 from_bits(U16 a) { return {_mm512_castsi512_ps(a.v)}; }
/// a > b ? x : y by lane; NaN compares false.
inline F16 where_greater(F16 a, F16 b, F16 x, F16 y) {
  return {_mm512_mask_blend_ps(_mm512_cmp_ps_mask(a.v, b.v, _CMP_GT_OQ), y.v, x.v)};
}
/// Transposes each 4 x 4 group: lane 4g + w of out[j] is lane 4g + j of in[w].
inline void transpose_quads(const U16* in, U16* out) {
  const __m512i low01 = _mm512_unpacklo_epi32(in[0].v, in[1].v), high01 = _mm512_unpackhi_epi32(in[0].v, in[1].v);
  const __m512i low23 = _mm512_unpacklo_epi32(in[2].v, in[3].v), high23 = _mm512_unpackhi_epi32(in[2].v, in[3].v);
  out[0] = {_mm512_unpacklo_epi64(low01, low23)};
  out[1] = {_mm512_unpackhi_epi64(low01, low23)};
  out[2] = {_mm512_unpacklo_epi64(high01, high23)};
  out[3] = {_mm512_unpackhi_epi64(high01, high23)};
}

#elif defined(__AVX2__)

struct U16 {
  __m256i a, b;
};
inline U16 splat_u32(uint32_t x) { return {_mm256_set1_epi32(int(x)), _mm256_set1_epi32(int(x))}; }
inline U16 load_u32(const uint32_t* p) {
  const __m256i* q = reinterpret_cast<const __m256i*>(p);
  return {_mm256_loadu_si256(q), _mm256_loadu_si256(q + 1)};
}
inline void store_u32(uint32_t* p, U16 x) {
  __m256i* q = reinterpret_cast<__m256i*>(p);
  _mm256_storeu_si256(q, x.a);
  _mm256_storeu_si256(q + 1, x.b);
}
inline U16 add(U16 x, U16 y) { return {_mm256_add_epi32(x.a, y.a), _mm256_add_epi32(x.b, y.b)}; }
inline U16 sub(U16 x, U16 y) { return {_mm256_sub_epi32(x.a, y.a), _mm256_sub_epi32(x.b, y.b)}; }
inline U16 bit_xor(U16 x, U16 y) { return {_mm256_xor_si256(x.a, y.a), _mm256_xor_si256(x.b, y.b)}; }
inline U16 bit_and(U16 x, U16 y) { return {_mm256_and_si256(x.a, y.a), _mm256_and_si256(x.b, y.b)}; }
inline void multiply_wide8(__m256i a, __m256i factor, __m256i* high, __m256i* low) {
  const __m256i even = _mm256_mul_epu32(a, factor), odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), factor);
  *high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
  *low = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);
}
inline void multiply_wide(U16 x, uint32_t k, U16* high, U16* low) {
  const __m256i factor = _mm256_set1_epi64x(int64_t(k));
  multiply_wide8(x.a, factor, &high->a, &low->a);
  multiply_wide8(x.b, factor, &high->b, &low->b);
}
inline __m256 to_float8(__m256i x) {
  // AVX2 cannot convert unsigned integers: both halves convert exactly, and the fma rounds once.
  const __m256 high = _mm256_cvtepi32_ps(_mm256_srli_epi32(x, 16));
  const __m256 low = _mm256_cvtepi32_ps(_mm256_and_si256(x, _mm256_set1_epi32(0xffff)));
  return _mm256_fmadd_ps(high, _mm256_set1_ps(65536.0f), low);
}
inline F16 to_float(U16 x) { return {to_float8(x.a), to_float8(x.b)}; }
inline F16 signed_to_float(U16 x) { return {_mm256_cvtepi32_ps(x.a), _mm256_cvtepi32_ps(x.b)}; }
inline U16 exponent_of(U16 x) { return {_mm256_srai_epi32(x.a, 23), _mm256_srai_epi32(x.b, 23)}; }
inline U16 bits_of(F16 x) { return {_mm256_castps_si256(x.a), _mm256_castps_si256(x.b)}; }
inline F16 from_bits(U16 x) { return {_mm256_castsi256_ps(x.a), _mm256_castsi256_ps(x.b)}; }
inline F16 where_greater(F16 a, F16 b, F16 x, F16 y) {
  return {_mm256_blendv_ps(y.a, x.a, _mm256_cmp_ps(a.a, b.a, _CMP_GT_OQ)),
          _mm256_blendv_ps(y.b, x.b, _mm256_cmp_ps(a.b, b.b, _CMP_GT_OQ))};
}
inline void transpose_quads8(const __m256i* in, __m256i* out) {
  const __m256i low01 = _mm256_unpacklo_epi32(in[0], in[1]), high01 = _mm256_unpackhi_epi32(in[0], in[1]);
  const __m256i low23 = _mm256_unpacklo_epi32(in[2], in[3]), high23 = _mm256_unpackhi_epi32(in[2], in[3]);
  out[0] = _mm256_unpacklo_epi64(low01, low23);
  out[1] = _mm256_unpackhi_epi64(low01, low23);
  out[2] = _mm256_unpacklo_epi64(high01, high23);
  out[3] = _mm256_unpackhi_epi64(high01, high23);
}
inline void transpose_quads(const U16* in, U16* out) {
  const __m256i a[4] = {in[0].a, in[1].a, in[2].a, in[3].a}, b[4] = {in[0].b, in[1].b, in[2].b, in[3].b};
  __m256i x[4], y[4];
  transpose_quads8(a, x);
  transpose_quads8(b, y);
  for (int j = 0; j < 4; ++j) out[j] = {x[j], y[j]};
}

#elif defined(HONE_NEON)

struct U16 {
  uint32x4_t a, b, c, d;
};
inline U16 splat_u32(uint32_t x) { return {vdupq_n_u32(x), vdupq_n_u32(x), vdupq_n_u32(x), vdupq_n_u32(x)}; }
inline U16 load_u32(const uint32_t* p) { return {vld1q_u32(p), vld1q_u32(p + 4), vld1q_u32(p + 8), vld1q_u32(p + 12)}; }
inline void store_u32(uint32_t* p, U16 x) { vst1q_u32(p, x.a); vst1q_u32(p + 4, x.b); vst1q_u32(p + 8, x.c); vst1q_u32(p + 12, x.d); }
inline U16 add(U16 x, U16 y) { return HONE_QUARTERS(vaddq_u32, x, y); }
inline U16 sub(U16 x, U16 y) { return HONE_QUARTERS(vsubq_u32, x, y); }
inline U16 bit_xor(U16 x, U16 y) { return HONE_QUARTERS(veorq_u32, x, y); }
inline U16 bit_and(U16 x, U16 y) { return HONE_QUARTERS(vandq_u32, x, y); }
inline void multiply_wide4(uint32x4_t x, uint32_t k, uint32x4_t* high, uint32x4_t* low) {
  const uint32x4_t first = vreinterpretq_u32_u64(vmull_n_u32(vget_low_u32(x), k));
  const uint32x4_t second = vreinterpretq_u32_u64(vmull_high_n_u32(x, k));
  *high = vuzp2q_u32(first, second);
  *low = vuzp1q_u32(first, second);
}
inline void multiply_wide(U16 x, uint32_t k, U16* high, U16* low) {
  multiply_wide4(x.a, k, &high->a, &low->a), multiply_wide4(x.b, k, &high->b, &low->b);
  multiply_wide4(x.c, k, &high->c, &low->c), multiply_wide4(x.d, k, &high->d, &low->d);
}
inline F16 to_float(U16 x) { return {vcvtq_f32_u32(x.a), vcvtq_f32_u32(x.b), vcvtq_f32_u32(x.c), vcvtq_f32_u32(x.d)}; }
inline float32x4_t signed_to_float4(uint32x4_t x) { return vcvtq_f32_s32(vreinterpretq_s32_u32(x)); }
inline F16 signed_to_float(U16 x) {
  return {signed_to_float4(x.a), signed_to_float4(x.b), signed_to_float4(x.c), signed_to_float4(x.d)};
}
inline uint32x4_t exponent_of4(uint32x4_t x) { return vreinterpretq_u32_s32(vshrq_n_s32(vreinterpretq_s32_u32(x), 23)); }
inline U16 exponent_of(U16 x) { return {exponent_of4(x.a), exponent_of4(x.b), exponent_of4(x.c), exponent_of4(x.d)}; }
inline U16 bits_of(F16 x) {
  return {vreinterpretq_u32_f32(x.a), vreinterpretq_u32_f32(x.b), vreinterpretq_u32_f32(x.c), vreinterpretq_u32_f32(x.d)};
}
inline F16 from_bits(U16 x) {
  return {vreinterpretq_f32_u32(x.a), vreinterpretq_f32_u32(x.b), vreinterpretq_f32_u32(x.c), vreinterpretq_f32_u32(x.d)};
}
inline F16 where_greater(F16 a, F16 b, F16 x, F16 y) {
  return {vbslq_f32(vcgtq_f32(a.a, b.a), x.a, y.a), vbslq_f32(vcgtq_f32(a.b, b.b), x.b, y.b),
          vbslq_f32(vcgtq_f32(a.c, b.c), x.c, y.c), vbslq_f32(vcgtq_f32(a.d, b.d), x.d, y.d)};
}
inline void transpose_quads(const U16* in, U16* out) {
  F16 x[4];
  for (int i = 0; i < 4; ++i) x[i] = from_bits(in[i]);
  transpose4(&x[0].a, &x[1].a, &x[2].a, &x[3].a), transpose4(&x[0].b, &x[1].b, &x[2].b, &x[3].b);
  transpose4(&x[0].c, &x[1].c, &x[2].c, &x[3].c), transpose4(&x[0].d, &x[1].d, &x[2].d, &x[3].d);
  for (int i = 0; i < 4; ++i) out[i] = bits_of(x[i]);
}

#else

struct U16 {
  uint32_t v[16];
};
#define HONE_LANES(type, expr)                    \
  type r;                                         \
  for (int i = 0; i < 16; ++i) r.v[i] = (expr);   \
  return r
inline float float_of_bits(uint32_t x) { float f; __builtin_memcpy(&f, &x, 4); return f; }
inline uint32_t bits_of_float(float x) { uint32_t b; __builtin_memcpy(&b, &x, 4); return b; }
inline U16 splat_u32(uint32_t x) { HONE_LANES(U16, x); }
inline U16 load_u32(const uint32_t* p) { HONE_LANES(U16, p[i]); }
inline void store_u32(uint32_t* p, U16 a) { for (int i = 0; i < 16; ++i) p[i] = a.v[i]; }
inline U16 add(U16 a, U16 b) { HONE_LANES(U16, a.v[i] + b.v[i]); }
inline U16 sub(U16 a, U16 b) { HONE_LANES(U16, a.v[i] - b.v[i]); }
inline U16 bit_xor(U16 a, U16 b) { HONE_LANES(U16, a.v[i] ^ b.v[i]); }
inline U16 bit_and(U16 a, U16 b) { HONE_LANES(U16, a.v[i] & b.v[i]); }
inline void multiply_wide(U16 a, uint32_t k, U16* high, U16* low) {
  for (int i = 0; i < 16; ++i) {
    const uint64_t product = uint64_t(a.v[i]) * k;
    high->v[i] = uint32_t(product >> 32);
    low->v[i] = uint32_t(product);
  }
}
inline F16 to_float(U16 a) { HONE_LANES(F16, float(a.v[i])); }
inline F16 signed_to_float(U16 a) { HONE_LANES(F16, float(int32_t(a.v[i]))); }
inline U16 exponent_of(U16 a) { HONE_LANES(U16, uint32_t(int32_t(a.v[i]) >> 23)); }
inline U16 bits_of(F16 a) { HONE_LANES(U16, bits_of_float(a.v[i])); }
inline F16 from_bits(U16 a) { HONE_LANES(F16, float_of_bits(a.v[i])); }
inline F16 where_greater(F16 a, F16 b, F16 x, F16 y) { HONE_LANES(F16, a.v[i] > b.v[i] ? x.v[i] : y.v[i]); }
inline void transpose_quads(const U16* in, U16* out) {
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 16; ++i) out[j].v[i] = in[i % 4].v[i / 4 * 4 + j];
}
#undef HONE_LANES

#endif

/// log(1 + r) + e log 2, for r in [sqrt(1/2) - 1, sqrt(2) - 1] and integral e, with a relative error of 2e-7.
__attribute__((always_inline)) inline F16 log_parts(F16 r, F16 e) {
  const F16 square = mul(r, r);
  F16 p = splat(7.0376836292e-2f);
  p = fma(p, r, splat(-1.1514610310e-1f));
  p = fma(p, r, splat(1.1676998740e-1f));
  p = fma(p, r, splat(-1.2420140846e-1f));
  p = fma(p, r, splat(1.4249322787e-1f));
  p = fma(p, r, splat(-1.6668057665e-1f));
  p = fma(p, r, splat(2.0000714765e-1f));
  p = fma(p, r, splat(-2.4999993993e-1f));
  p = fma(p, r, splat(3.3333331174e-1f));
  p = mul(mul(p, r), square);
  p = fma(e, splat(-2.12194440e-4f), p);
  p = fma(square, splat(-0.5f), p);
  return fma(e, splat(0.693359375f), add(r, p));
}
/// Splits x = (1 + r) 2^e with 1 + r in [sqrt(1/2), sqrt(2)); x must be positive and normal.
__attribute__((always_inline)) inline void split_exponent(F16 x, F16* r, F16* e) {
  const U16 bits = bits_of(x), power = exponent_of(sub(bits, splat_u32(0x3f3504f3u)));
  *e = signed_to_float(power);
  // The difference without its mantissa bits is e, at the position of the exponent.
  const U16 shifted = bit_and(sub(bits, splat_u32(0x3f3504f3u)), splat_u32(0xff800000u));
  *r = sub(from_bits(sub(bits, shifted)), splat(1.0f));
}
/// Natural logarithm of positive normal lanes; 0 counts as 2^-127, so that the result is finite.
__attribute__((always_inline)) inline F16 log(F16 x) {
  F16 r, e;
  split_exponent(x, &r, &e);
  return log_parts(r, e);
}
/// -log(-log((x + 1) 2^-32)): standard Gumbel noise made from 32 random bits.
__attribute__((always_inline)) inline F16 gumbel(U16 x) {
  const F16 u = mul(to_float(add(x, splat_u32(1))), splat(0x1p-32f));
  // For u near 1, -log u is computed from gap = 1 - u, made from the inverted bits, to keep its precision.
  const F16 gap = mul(to_float(bit_xor(x, splat_u32(0xffffffffu))), splat(0x1p-32f));
  F16 r, e;
  split_exponent(u, &r, &e);
  r = where_greater(splat(0.25f), gap, sub(zero(), gap), r);
  e = where_greater(splat(0.25f), gap, zero(), e);
  return sub(zero(), log(sub(zero(), log_parts(r, e))));
}

/// Philox4x32-10 of blocks first .. first + 15: word w of block first + b goes to lane 4 (b % 4) + w of out[b
/// / 4].
struct PhiloxKey {
  uint32_t position, attempt, problem, key0, key1;
};
inline void philox_words(const PhiloxKey& key, uint32_t first, U16* out) {
  alignas(64) static constexpr uint32_t kOrder[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  U16 c[4] = {add(load_u32(kOrder), splat_u32(first)), splat_u32(key.position), splat_u32(key.attempt),
              splat_u32(key.problem)};
  uint32_t k0 = key.key0, k1 = key.key1;
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
    U16 a_high, a_low, b_high, b_low;
    multiply_wide(c[0], 0xD2511F53u, &a_high, &a_low);
    multiply_wide(c[2], 0xCD9E8D57u, &b_high, &b_low);
    c[0] = bit_xor(bit_xor(b_high, c[1]), splat_u32(k0));
    c[1] = b_low;
    c[2] = bit_xor(bit_xor(a_high, c[3]), splat_u32(k1));
    c[3] = a_low;
  }
  transpose_quads(c, out);
}

/// tanh within 4 units in the last place: up to 0.35 by its series, since 1 - 2 / (e^2x + 1) would cancel
/// there.
inline F16 tanh(F16 x) {
  const F16 size = max(x, sub(zero(), x)), square = mul(x, x);
  F16 series = splat(21844.0f / 6081075.0f);
  series = fma(series, square, splat(-1382.0f / 155925.0f));
  series = fma(series, square, splat(62.0f / 2835.0f));
  series = fma(series, square, splat(-17.0f / 315.0f));
  series = fma(series, square, splat(2.0f / 15.0f));
  series = fma(series, square, splat(-1.0f / 3.0f));
  series = fma(series, square, splat(1.0f));
  const F16 far = sub(splat(1.0f), div(splat(2.0f), add(exp(add(x, x)), splat(1.0f))));
  return where_greater(size, splat(0.35f), far, mul(series, x));
}

}  // namespace hone::kernels::cpu::HONE_ISA
