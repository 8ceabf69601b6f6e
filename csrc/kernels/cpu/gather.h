#pragma once

#include "kernels/gather.h"

namespace hone::kernels::cpu {

void gather_rows(const Stream& stream, const GatherRowsArgs& args);
void scatter_rows(const Stream& stream, const ScatterRowsArgs& args);

}  // namespace hone::kernels::cpu
