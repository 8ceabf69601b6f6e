// Arguments of the divergence's kernel: raw pointers, so that no inline code crosses instruction sets.
#pragma once

#include <cstdint>

#include "kernels/cpu/dispatch.h"

namespace hone::kernels::cpu {

/// One row of n logits of a student and its teacher; see kernels::Divergence.
struct DivergenceRow {
  const float* z;  // the student's logits, after the soft cap if softcap is not 0
  // in: the teacher's logits; out: slope times the divergence's gradient for the student's logits before the
  // soft cap
  float* q;
  int64_t n;
  float inverse, teacher_inverse;  // 1 / temperature of student and teacher
  float lse, teacher_lse;          // log sum exp of z and of q, each divided by its temperature
  float beta, slope, softcap;
  float log_beta, log_rest;  // log beta and log(1 - beta); read only if 0 < beta < 1
};

/// One row of n logits, and a factor for its probabilities.
struct SpreadRow {
  const float* z;  // logits, after the soft cap if softcap is not 0
  float* q;        // out: factor times probability, for logits before the cap
  int64_t n;
  float inverse, lse, factor, softcap;
};

HONE_VARIANTS(void spread_row(const SpreadRow&));

/// Writes the row's divergence to `divergence` and its gradient to q.
HONE_VARIANTS(void divergence_row(const DivergenceRow&, float* divergence));

}  // namespace hone::kernels::cpu
