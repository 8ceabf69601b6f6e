// The CUDA backend of kernels/cast.h: arguments are already checked.
#pragma once

#include "kernels/cast.h"

namespace hone::kernels::cuda {

void cast(const Stream& stream, const CastArgs& args);

}  // namespace hone::kernels::cuda
