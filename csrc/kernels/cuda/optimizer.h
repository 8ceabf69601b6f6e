// The CUDA backend of kernels/optimizer.h: arguments are already checked.
#pragma once

#include "kernels/optimizer.h"

namespace hone::kernels::cuda {

void sum_of_squares(const Stream& stream, const SumOfSquaresArgs& args);
/// Scratch for one sum over n values.
int64_t strip_bytes(int64_t n);
void gradient_scale(const Stream& stream, const GradientScaleArgs& args);
void adamw(const Stream& stream, const AdamWArgs& args);

}  // namespace hone::kernels::cuda
