// The CUDA backend of kernels/head_gate.h: shapes and dtypes are already checked.
#pragma once

#include "kernels/head_gate.h"

namespace hone::kernels::cuda {

void split_gated_heads(const Stream& stream, const GatedHeads& args);
void join_gated_heads(const Stream& stream, const GatedHeads& args);
void head_gate(const Stream& stream, const HeadGateArgs& args);
void head_gate_grad(const Stream& stream, const HeadGateGradArgs& args);
void row_gate(const Stream& stream, const RowGateArgs& args);
void row_gate_grad(const Stream& stream, const RowGateGradArgs& args);

}  // namespace hone::kernels::cuda
