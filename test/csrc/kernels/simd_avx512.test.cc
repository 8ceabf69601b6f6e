// Tests simd.h on AVX-512. Only the probes are compiled for AVX-512, so that the test itself starts on any
// CPU.
#define HONE_ISA probe_avx512
#define HONE_PROBE_SET kAvx512
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#include <cstdint>

// The pragma changes g++'s target, but not the macros by which simd.h chooses its code.
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,f16c")
#ifndef __AVX2__
#define __AVX2__ 1
#endif
#ifndef __AVX512F__
#define __AVX512F__ 1
#endif
#include "simd_probe.inc"
#pragma GCC pop_options

#include "simd_cases.inc"
