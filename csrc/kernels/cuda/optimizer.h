// The CUDA backend of kernels/optimizer.h: arguments are already checked.
#pragma once

#include "kernels/optimizer.h"
#include "kernels/cuda/scratch.h"

namespace hone::kernels::cuda {

void add_strips(const Stream& stream, const double* sums, int64_t n, const TensorView& total, bool accumulate = false);

void sum_of_squares(const Stream& stream, const SumOfSquaresArgs& args);
void gradient_scale(const Stream& stream, const GradientScaleArgs& args);
void adamw(const Stream& stream, const AdamWArgs& args);
void muon(const Stream& stream, const MuonArgs& args);

}  // namespace hone::kernels::cuda
