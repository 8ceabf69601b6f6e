// Arguments of the products in bf16: as in matmul_block.h, with panels of pairs.
#pragma once

#include "kernels/cpu/matmul_block.h"

namespace hone::kernels::cpu {

/// LinearBlock's panels are [ceil(columns/32)][ceil(k/2)][32] pairs, the even k in the high half, and -0 beside the last
/// of an odd k: its product with x's 0 changes no sum. x is rounded to bf16, denormal numbers to 0.
HONE_BF16_VARIANTS(void linear_bf16_block(const LinearBlock&));
HONE_BF16_VARIANTS(void pack_bf16_block(const PackBlock&));
/// dy and x are rounded as x above.
HONE_BF16_VARIANTS(void grad_weight_bf16_block(const GradWeightBlock&));
/// sums[i] += a[i] . b[i], i < 16, of pairs: one step of every product above.
HONE_BF16_VARIANTS(void dot_pairs(const uint32_t* a, const uint32_t* b, float* sums));
/// Rounds x: out[i] has x[2 i] in the high half and x[2 i + 1] in the low one.
HONE_BF16_VARIANTS(void round_row(const float* x, int64_t n, uint32_t* out));

/// False if this processor's instruction does not give the bits of the emulating steps. Needs AVX512-BF16.
bool instruction_gives_our_bits();

}  // namespace hone::kernels::cpu
