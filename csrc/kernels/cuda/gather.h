// Rows by index on a GPU; arguments are checked by the dispatchers.
#pragma once

#include "kernels/gather.h"

namespace hone::kernels::cuda {

void gather_rows(const Stream& stream, const GatherRowsArgs& args);
void scatter_rows(const Stream& stream, const ScatterRowsArgs& args);

}  // namespace hone::kernels::cuda
