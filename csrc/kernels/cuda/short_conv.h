// The CUDA backend of kernels/short_conv.h: shapes and dtypes are already checked.
#pragma once

#include "kernels/short_conv.h"

namespace hone::kernels::cuda {

void short_conv(const Stream& stream, const ShortConvArgs& args);
void short_conv_grad(const Stream& stream, const ShortConvGradArgs& args);

}  // namespace hone::kernels::cuda
