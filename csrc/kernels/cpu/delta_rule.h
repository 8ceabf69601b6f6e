// The CPU backend of gated DeltaNet: arguments are already checked.
#pragma once

#include "kernels/delta_rule.h"

namespace hone::kernels::cpu {

void delta_rule(const Stream& stream, const DeltaRuleArgs& args);
void delta_rule_grad(const Stream& stream, const DeltaRuleGradArgs& args);

}  // namespace hone::kernels::cpu
