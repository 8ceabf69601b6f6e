// The CPU backend of kernels/optimizer.h: arguments are already checked.
#pragma once

#include "kernels/optimizer.h"

namespace hone::kernels::cpu {

double sum_of_squares(const Stream& stream, const TensorView& x);
void gradient_scale(const GradientScaleArgs& args);
int64_t adamw_scratch_bytes();
void adamw(const Stream& stream, const AdamWArgs& args);
int64_t muon_scratch_bytes(int64_t rows, int64_t columns);
void muon(const Stream& stream, const MuonArgs& args);

}  // namespace hone::kernels::cpu
