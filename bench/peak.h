// The reference of the native benches: the FMA throughput of this machine's registers, measured in the same run.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "core/stream.h"
#include "kernels/cpu/dispatch.h"

namespace hone::bench {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The shortest of many runs, because other processes can only add time.
inline double best_seconds(int repeats, const std::function<void()>& f) {
  f();
  double best = 1e30;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    f();
    best = std::min(best, seconds_since(start));
  }
  return best;
}

inline constexpr int kPeakSteps = 40000;

#if defined(__x86_64__)
__attribute__((target("avx512f"))) inline double peak_flops_avx512() {
  __m512 acc[24];
  for (int i = 0; i < 24; ++i) acc[i] = _mm512_set1_ps(float(i));
  const __m512 a = _mm512_set1_ps(0.999f), b = _mm512_set1_ps(1e-3f);
  for (int s = 0; s < kPeakSteps; ++s) {
#pragma GCC unroll 24
    for (int i = 0; i < 24; ++i) acc[i] = _mm512_fmadd_ps(acc[i], a, b);
  }
  volatile float keep = 0;
  for (int i = 0; i < 24; ++i) keep = keep + _mm512_cvtss_f32(acc[i]);
  return 2.0 * 24 * 16 * kPeakSteps;
}
__attribute__((target("avx512f,avx512bf16"))) inline double peak_flops_bf16() {
  __m512 acc[24];
  for (int i = 0; i < 24; ++i) acc[i] = _mm512_set1_ps(float(i));
  const auto a = (__m512bh)_mm512_set1_epi32(0x3f7f3f7f), b = (__m512bh)_mm512_set1_epi32(0x3a833a83);
  for (int s = 0; s < kPeakSteps; ++s) {
#pragma GCC unroll 24
    for (int i = 0; i < 24; ++i) acc[i] = _mm512_dpbf16_ps(acc[i], a, b);
  }
  volatile float keep = 0;
  for (int i = 0; i < 24; ++i) keep = keep + _mm512_cvtss_f32(acc[i]);
  return 4.0 * 24 * 16 * kPeakSteps;
}
__attribute__((target("avx2,fma"))) inline double peak_flops_avx2() {
  __m256 acc[12];
  for (int i = 0; i < 12; ++i) acc[i] = _mm256_set1_ps(float(i));
  const __m256 a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(1e-3f);
  for (int s = 0; s < kPeakSteps; ++s) {
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) acc[i] = _mm256_fmadd_ps(acc[i], a, b);
  }
  volatile float keep = 0;
  for (int i = 0; i < 12; ++i) keep = keep + _mm256_cvtss_f32(acc[i]);
  return 2.0 * 12 * 8 * kPeakSteps;
}
#else
inline double peak_flops_avx512() { return 0; }
inline double peak_flops_avx2() { return 0; }
inline double peak_flops_bf16() { return 0; }
#endif

inline double peak_flops_plain() {
  float acc[32];
  for (int i = 0; i < 32; ++i) acc[i] = float(i);
  for (int s = 0; s < kPeakSteps; ++s) {
    for (int i = 0; i < 32; ++i) acc[i] = acc[i] * 0.999f + 1e-3f;
  }
  volatile float keep = 0;
  for (int i = 0; i < 32; ++i) keep = keep + acc[i];
  return 2.0 * 32 * kPeakSteps;
}

inline double gflops_of(double (*run)(), const Stream& stream, int repeats) {
  const double flops = run() * stream.threads();
  const double seconds = best_seconds(
      repeats, [&] { stream.parallel_for(stream.threads(), 1, [&](int64_t, int64_t) { run(); }); });
  return flops / seconds * 1e-9;
}
/// The GFLOP/s of the registers of the stream's threads, with the instruction set that the kernels use.
inline double peak_gflops(const Stream& stream, int repeats) {
  return gflops_of(kernels::cpu::pick(&peak_flops_plain, &peak_flops_avx2, &peak_flops_avx512), stream, repeats);
}
/// The same for products in bf16; f32's peak on an instruction set without bf16 products.
inline double peak_bf16_gflops(const Stream& stream, int repeats) {
  if (kernels::cpu::isa() != kernels::cpu::Isa::kAvx512Bf16) return peak_gflops(stream, repeats);
  return gflops_of(&peak_flops_bf16, stream, repeats);
}

}  // namespace hone::bench
