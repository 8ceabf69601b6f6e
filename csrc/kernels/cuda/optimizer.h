// The CUDA backend of kernels/optimizer.h: arguments are already checked.
#pragma once

#include "kernels/optimizer.h"

namespace hone::kernels::cuda {

/// Values of one block, summed in one place, and how many such strips n values have.
inline constexpr int64_t kOptimizerStrip = 16384;
inline int64_t optimizer_strips(int64_t n) { return (n + kOptimizerStrip - 1) / kOptimizerStrip; }
/// Scratch for the f64 sums of n values' strips, and their total.
int64_t strip_bytes(int64_t n);
void add_strips(const Stream& stream, const double* sums, int64_t n, const TensorView& total, bool accumulate = false);

void sum_of_squares(const Stream& stream, const SumOfSquaresArgs& args);
void gradient_scale(const Stream& stream, const GradientScaleArgs& args);
void adamw(const Stream& stream, const AdamWArgs& args);
void muon(const Stream& stream, const MuonArgs& args);
int64_t muon_scratch_bytes(const Stream& stream, int64_t rows, int64_t columns);

}  // namespace hone::kernels::cuda
