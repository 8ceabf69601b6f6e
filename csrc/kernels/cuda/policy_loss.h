// The CUDA backend of kernels/policy_loss.h: arguments are already checked.
#pragma once

#include "kernels/policy_loss.h"

namespace hone::kernels::cuda {

void policy_loss(const Stream& stream, const PolicyLossArgs& args);

}  // namespace hone::kernels::cuda
