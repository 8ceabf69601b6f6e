// The arm64 part of simd.h: every operation gives the bits of the x86 version. isa_neon.cc defines HONE_NEON,
// because __ARM_NEON is also defined in isa_baseline.cc.
#pragma once

#include <arm_neon.h>

#include <cstdint>

namespace hone::kernels::cpu::HONE_ISA {

struct F16 {
  float32x4_t a, b, c, d;
};
inline F16 splat(float x) { return {vdupq_n_f32(x), vdupq_n_f32(x), vdupq_n_f32(x), vdupq_n_f32(x)}; }
inline F16 zero() { return splat(0.0f); }
inline F16 load(const float* p) { return {vld1q_f32(p), vld1q_f32(p + 4), vld1q_f32(p + 8), vld1q_f32(p + 12)}; }
inline void store(float* p, F16 x) { vst1q_f32(p, x.a); vst1q_f32(p + 4, x.b); vst1q_f32(p + 8, x.c); vst1q_f32(p + 12, x.d); }
inline float32x4_t load4(const float* p, int n, float fill) {
  if (n >= 4) return vld1q_f32(p);
  float32x4_t x = vdupq_n_f32(fill);
  if (n > 0) x = vld1q_lane_f32(p, x, 0);
  if (n > 1) x = vld1q_lane_f32(p + 1, x, 1);
  if (n > 2) x = vld1q_lane_f32(p + 2, x, 2);
  return x;
}
inline void store4(float* p, float32x4_t x, int n) {
  if (n >= 4) return vst1q_f32(p, x);
  if (n > 0) vst1q_lane_f32(p, x, 0);
  if (n > 1) vst1q_lane_f32(p + 1, x, 1);
  if (n > 2) vst1q_lane_f32(p + 2, x, 2);
}
inline F16 load_n(const float* p, int n, float fill = 0.0f) {
  return {load4(p, n, fill), load4(p + 4, n - 4, fill), load4(p + 8, n - 8, fill), load4(p + 12, n - 12, fill)};
}
inline void store_n(float* p, F16 x, int n) {
  store4(p, x.a, n), store4(p + 4, x.b, n - 4), store4(p + 8, x.c, n - 8), store4(p + 12, x.d, n - 12);
}
struct Lanes {
  int count;
};
inline Lanes first_lanes(int n) { return {n}; }
inline F16 load(const float* p, Lanes n) { return load_n(p, n.count); }
inline void store(float* p, F16 x, Lanes n) { store_n(p, x, n.count); }
inline float32x4_t widen_bf16(uint16x4_t x) { return vreinterpretq_f32_u32(vshlq_n_u32(vmovl_u16(x), 16)); }
inline F16 load(const uint16_t* p) {
  return {widen_bf16(vld1_u16(p)), widen_bf16(vld1_u16(p + 4)), widen_bf16(vld1_u16(p + 8)), widen_bf16(vld1_u16(p + 12))};
}
inline F16 load(const uint16_t* p, Lanes n) {
  uint16_t some[16] = {};
  for (int i = 0; i < n.count && i < 16; ++i) some[i] = p[i];
  return load(some);
}
#define HONE_QUARTERS(op, x, y) {op(x.a, y.a), op(x.b, y.b), op(x.c, y.c), op(x.d, y.d)}
inline F16 add(F16 x, F16 y) { return HONE_QUARTERS(vaddq_f32, x, y); }
inline F16 sub(F16 x, F16 y) { return HONE_QUARTERS(vsubq_f32, x, y); }
inline F16 mul(F16 x, F16 y) { return HONE_QUARTERS(vmulq_f32, x, y); }
inline F16 div(F16 x, F16 y) { return HONE_QUARTERS(vdivq_f32, x, y); }
inline F16 fma(F16 x, F16 y, F16 z) {
  return {vfmaq_f32(z.a, x.a, y.a), vfmaq_f32(z.b, x.b, y.b), vfmaq_f32(z.c, x.c, y.c), vfmaq_f32(z.d, x.d, y.d)};
}
// ARM's maximum and minimum instructions treat NaN and zeros of opposite sign differently from x86's.
inline float32x4_t max4(float32x4_t x, float32x4_t y) { return vbslq_f32(vcgtq_f32(x, y), x, y); }
inline float32x4_t min4(float32x4_t x, float32x4_t y) { return vbslq_f32(vcltq_f32(x, y), x, y); }
inline F16 max(F16 x, F16 y) { return HONE_QUARTERS(max4, x, y); }
inline F16 min(F16 x, F16 y) { return HONE_QUARTERS(min4, x, y); }
inline F16 sqrt(F16 x) { return {vsqrtq_f32(x.a), vsqrtq_f32(x.b), vsqrtq_f32(x.c), vsqrtq_f32(x.d)}; }
inline float32x4_t keep_range4(float32x4_t x, int first, int low, int high, float fill) {
  const int32x4_t lane = vaddq_s32(int32x4_t{0, 1, 2, 3}, vdupq_n_s32(first));
  const uint32x4_t inside = vandq_u32(vcgeq_s32(lane, vdupq_n_s32(low)), vcltq_s32(lane, vdupq_n_s32(high)));
  return vbslq_f32(inside, x, vdupq_n_f32(fill));
}
inline F16 keep_range(F16 x, int low, int high, float fill) {
  return {keep_range4(x.a, 0, low, high, fill), keep_range4(x.b, 4, low, high, fill),
          keep_range4(x.c, 8, low, high, fill), keep_range4(x.d, 12, low, high, fill)};
}
inline F16 round(F16 x) { return {vrndnq_f32(x.a), vrndnq_f32(x.b), vrndnq_f32(x.c), vrndnq_f32(x.d)}; }
inline float32x4_t scale2_or_zero4(float32x4_t x, float32x4_t n) {
  const float32x4_t floor = vdupq_n_f32(-125.0f);
  const int32x4_t power = vshlq_n_s32(vaddq_s32(vcvtnq_s32_f32(max4(floor, n)), vdupq_n_s32(127)), 23);
  const float32x4_t scaled = vmulq_f32(x, vreinterpretq_f32_s32(power));
  return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(scaled), vcltq_f32(n, floor)));
}
inline F16 scale2_or_zero(F16 x, F16 n) { return HONE_QUARTERS(scale2_or_zero4, x, n); }

/// Transposes the 4 x 4 square whose rows are r0 to r3.
inline void transpose4(float32x4_t* r0, float32x4_t* r1, float32x4_t* r2, float32x4_t* r3) {
  const auto pairs = [](float32x4_t x) { return vreinterpretq_f64_f32(x); };
  const auto lanes = [](float64x2_t x) { return vreinterpretq_f32_f64(x); };
  const float64x2_t even01 = pairs(vtrn1q_f32(*r0, *r1)), odd01 = pairs(vtrn2q_f32(*r0, *r1));
  const float64x2_t even23 = pairs(vtrn1q_f32(*r2, *r3)), odd23 = pairs(vtrn2q_f32(*r2, *r3));
  *r0 = lanes(vtrn1q_f64(even01, even23)), *r1 = lanes(vtrn1q_f64(odd01, odd23));
  *r2 = lanes(vtrn2q_f64(even01, even23)), *r3 = lanes(vtrn2q_f64(odd01, odd23));
}
inline void transpose16(const float* in, int64_t in_step, float* out, int64_t out_step) {
  for (int i = 0; i < 16; i += 4) {
    for (int j = 0; j < 16; j += 4) {
      float32x4_t r[4];
      for (int k = 0; k < 4; ++k) r[k] = vld1q_f32(in + (i + k) * in_step + j);
      transpose4(&r[0], &r[1], &r[2], &r[3]);
      for (int k = 0; k < 4; ++k) vst1q_f32(out + (j + k) * out_step + i, r[k]);
    }
  }
}

/// Adds the lanes by the tree of simd.h's reductions.
inline float sum(F16 x) {
  const float32x4_t t = vaddq_f32(vaddq_f32(x.a, x.c), vaddq_f32(x.b, x.d));
  const float32x2_t u = vadd_f32(vget_low_f32(t), vget_high_f32(t));
  return vget_lane_f32(u, 0) + vget_lane_f32(u, 1);
}
inline float max_lane(F16 x) {
  const float32x4_t t = max4(max4(x.a, x.c), max4(x.b, x.d)), u = max4(t, vextq_f32(t, t, 2));
  return vgetq_lane_f32(max4(u, vextq_f32(u, u, 1)), 0);
}

}  // namespace hone::kernels::cpu::HONE_ISA
