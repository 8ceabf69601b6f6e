// The CUDA backend of kernels/delta_rule.h: shapes and dtypes are already checked.
#pragma once

#include "kernels/delta_rule.h"

namespace hone::kernels::cuda {

void delta_rule(const Stream& stream, const DeltaRuleArgs& args);
void delta_rule_grad(const Stream& stream, const DeltaRuleGradArgs& args);
void delta_columns_by_kind(const Stream& stream, const DeltaColumns& args);
void delta_columns_by_head(const Stream& stream, const DeltaColumns& args);

}  // namespace hone::kernels::cuda
