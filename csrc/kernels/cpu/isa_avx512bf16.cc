#define HONE_ISA avx512bf16
// Compiles, in addition to the AVX-512 loops, the bf16 products for which this set has an instruction.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include "kernels/cpu/simd.h"

#include "kernels/cpu/matmul_tile.inc"
#include "kernels/cpu/matmul_bf16.inc"
