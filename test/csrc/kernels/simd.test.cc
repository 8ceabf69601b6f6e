// simd.h as this build's baseline compiles it.
#define HONE_ISA probe_baseline
#define HONE_PROBE_SET kBaseline
#include "simd_probe.inc"

#include "simd_cases.inc"
