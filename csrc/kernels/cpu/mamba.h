// The CPU backend of Mamba-2: arguments are already checked.
#pragma once

#include "kernels/mamba.h"

namespace hone::kernels::cpu {

void mamba(const Stream& stream, const MambaArgs& args);
void mamba_grad(const Stream& stream, const MambaGradArgs& args);

}  // namespace hone::kernels::cpu
