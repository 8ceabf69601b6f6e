// simd.h on arm64, whose compilers need no option for it.
#define HONE_ISA probe_neon
#define HONE_NEON 1
#define HONE_PROBE_SET kNeon
#include "simd_probe.inc"

#include "simd_cases.inc"
