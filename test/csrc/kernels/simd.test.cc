// Tests simd.h as compiled for the build's baseline instruction set.
#define HONE_ISA probe_baseline
#define HONE_PROBE_SET kBaseline
#include "simd_probe.inc"

#include "simd_cases.inc"
