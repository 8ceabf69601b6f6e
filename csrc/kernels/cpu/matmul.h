// The CPU backend of kernels/matmul.h: arguments are already checked.
#pragma once

#include "kernels/matmul.h"

namespace hone::kernels::cpu {

void pack_matrix(const Stream& stream, const PackMatrixArgs& args);
void transpose_packed(const Stream& stream, const PackedMatrix& from, const PackedMatrix& out);
void linear(const Stream& stream, const LinearArgs& args);
void linear_grad_weight(const Stream& stream, const LinearGradWeightArgs& args);

}  // namespace hone::kernels::cpu
