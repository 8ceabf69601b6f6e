// The CUDA backend of gathering and scattering rows by index: arguments are already checked.
#pragma once

#include "kernels/gather.h"

namespace hone::kernels::cuda {

void gather_rows(const Stream& stream, const GatherRowsArgs& args);
void scatter_rows(const Stream& stream, const ScatterRowsArgs& args);

}  // namespace hone::kernels::cuda
