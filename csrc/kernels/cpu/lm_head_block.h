// Arguments of the output-head kernels: raw pointers, so that no inline code crosses instruction sets.
#pragma once

#include <cstdint>

#include "kernels/cpu/dispatch.h"

namespace hone::kernels::cpu {

/// For y = z / temperature over one row of n logits: maximum, S = sum e^(y - maximum), U = sum e^(y -
/// maximum) (y - maximum).
struct RowStatistics {
  float maximum;
  double total, weighted;
};

/// Overwrites a row of logits z with dz = [a (onehot(target) - p) - b p (log p + entropy)] / temperature. If
/// the logits are soft-capped, dz is multiplied by 1 - (z / softcap)^2, which gives the gradient of the
/// uncapped logits.
struct HeadGradRow {
  float* z;
  int64_t n;
  float inverse_temperature, lse, entropy, a, b;
  int32_t target;
  float softcap;  // cap of the logits, or 0
};

struct NoiseKey {
  uint32_t position, attempt, problem, seed_low, seed_high;
};

HONE_VARIANTS(void row_statistics(const float* z, int64_t n, float inverse_temperature, RowStatistics* out));
HONE_VARIANTS(void head_grad_row(const HeadGradRow&));
/// z = softcap tanh(z / softcap) over a row of n logits; softcap 0 leaves them unchanged.
HONE_VARIANTS(void cap_row(float* z, int64_t n, float softcap));
/// Index of the first largest logit; 0 if every logit is NaN or -inf.
HONE_VARIANTS(int64_t argmax_row(const float* z, int64_t n));
/// argmax_row of z / temperature + Gumbel noise.
HONE_VARIANTS(int64_t noisy_argmax_row(const float* z, int64_t n, float inverse_temperature, const NoiseKey& key));
/// out[i] = Gumbel noise of id i; for tests.
HONE_VARIANTS(void gumbel_row(const NoiseKey& key, int64_t n, float* out));

}  // namespace hone::kernels::cpu
