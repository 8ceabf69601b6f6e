// The CPU backend of kernels/lm_head.h: arguments are already checked.
#pragma once

#include "kernels/lm_head.h"

namespace hone::kernels::cpu {

void lm_head(const Stream& stream, const LmHeadArgs& args);
void lm_head_grad(const Stream& stream, const LmHeadGradArgs& args);
void lm_head_sample(const Stream& stream, const LmHeadSampleArgs& args);
void lm_head_top(const Stream& stream, const LmHeadTopArgs& args);
int64_t lm_head_scratch_bytes(int64_t rows, int64_t vocabulary);
int64_t divergence_scratch_bytes(int64_t rows, int64_t vocabulary, const Divergence& divergence);

}  // namespace hone::kernels::cpu
