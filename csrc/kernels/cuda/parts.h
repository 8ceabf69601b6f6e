// The CUDA backend of kernels/parts.h: arguments are already checked.
#pragma once

#include "kernels/parts.h"

namespace hone::kernels::cuda {

void add_parts(const Stream& stream, const AddPartsArgs& args);
void block_squares(const Stream& stream, const BlockSquaresArgs& args);

}  // namespace hone::kernels::cuda
