#define HONE_ISA avx512bf16
// Adds to AVX-512's loops the products that have an instruction here.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include "kernels/cpu/simd.h"

#include "kernels/cpu/matmul_tile.inc"
#include "kernels/cpu/matmul_bf16.inc"
