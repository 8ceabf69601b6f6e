// Tests simd.h on arm64, for which compilers need no option.
#define HONE_ISA probe_neon
#define HONE_NEON 1
#define HONE_PROBE_SET kNeon
#include "simd_probe.inc"

#include "simd_cases.inc"
