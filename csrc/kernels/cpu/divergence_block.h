// Arguments of the divergence's kernel: raw pointers, so that no inline code crosses instruction sets.
#pragma once

#include <cstdint>

#include "kernels/cpu/dispatch.h"

namespace hone::kernels::cpu {

/// One row of n logits of a student and of its teacher, see kernels::Divergence.
struct DivergenceRow {
  const float* z;  // in, capped if softcap is not 0
  float* q;        // in; out: slope times ddivergence/dz, of the logits before their cap
  int64_t n;
  float inverse, teacher_inverse;  // of the temperatures
  float lse, teacher_lse;          // log sum exp of z and q at those
  float beta, slope, softcap;
  float log_beta, log_rest;  // log beta, log(1 - beta); read where beta is between 0 and 1
};

/// One row of n logits, and the factor of their probabilities.
struct SpreadRow {
  const float* z;  // in, capped if softcap is not 0
  float* q;        // out: factor times p, of the logits before their cap
  int64_t n;
  float inverse, lse, factor, softcap;
};

HONE_VARIANTS(void spread_row(const SpreadRow&));

/// Writes the row's divergence.
HONE_VARIANTS(void divergence_row(const DivergenceRow&, float* divergence));

}  // namespace hone::kernels::cpu
