// The CUDA backend of kernels/lm_head.h: shapes and dtypes are already checked.
#pragma once

#include "kernels/lm_head.h"
#include "kernels/cuda/scratch.h"

namespace hone::kernels::cuda {

void lm_head(const Stream& stream, const LmHeadArgs& args);
void lm_head_grad(const Stream& stream, const LmHeadGradArgs& args);
void lm_head_sample(const Stream& stream, const LmHeadSampleArgs& args);
void lm_head_top(const Stream& stream, const LmHeadTopArgs& args);

}  // namespace hone::kernels::cuda
