// Matrix products with bf16 arithmetic: the arguments of matmul_block.h, with panels of bf16 pairs.
#pragma once

#include "kernels/cpu/matmul_block.h"

namespace hone::kernels::cpu {

/// Panels are [ceil(columns/32)][ceil(k/2)][32] pairs, the even k in the high half. If k is odd, the last
/// pair has -0 in its low half, whose product with x's 0 changes no sum. x is rounded to bf16, and its
/// denormal numbers to 0.
HONE_BF16_VARIANTS(void linear_bf16_block(const LinearBlock&));
HONE_BF16_VARIANTS(void pack_bf16_block(const PackBlock&));
/// dy and x are rounded to bf16, and their denormal numbers to 0.
HONE_BF16_VARIANTS(void grad_weight_bf16_block(const GradWeightBlock&));
/// sums[i] += a[i] . b[i], i < 16, for bf16 pairs: one step of every product in this file.
HONE_BF16_VARIANTS(void dot_pairs(const uint32_t* a, const uint32_t* b, float* sums));
/// Rounds x to bf16 pairs: out[i] has x[2 i] in the high half and x[2 i + 1] in the low half.
HONE_BF16_VARIANTS(void round_row(const float* x, int64_t n, uint32_t* out));

/// Whether this CPU's bf16 instruction gives the bits of its emulation in simd_bf16.h. Needs AVX512-BF16.
bool instruction_gives_our_bits();

}  // namespace hone::kernels::cpu
