// Tests simd.h on AVX2 with FMA. Only the probes are compiled for AVX2, so that the test itself starts on any
// CPU.
#define HONE_ISA probe_avx2
#define HONE_PROBE_SET kAvx2
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#include <cstdint>

// The pragma changes g++'s target, but not the macros by which simd.h chooses its code.
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#undef __AVX512F__
#ifndef __AVX2__
#define __AVX2__ 1
#endif
#include "simd_probe.inc"
#pragma GCC pop_options

#include "simd_cases.inc"
