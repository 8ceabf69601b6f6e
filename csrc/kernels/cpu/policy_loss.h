// The CPU backend of kernels/policy_loss.h: arguments are already checked.
#pragma once

#include "kernels/policy_loss.h"

namespace hone::kernels::cpu {

void policy_loss(const PolicyLossArgs& args);

}  // namespace hone::kernels::cpu
