// The CPU backend of the short convolution: arguments are already checked.
#pragma once

#include "kernels/short_conv.h"

namespace hone::kernels::cpu {

void short_conv(const Stream& stream, const ShortConvArgs& args);
void short_conv_grad(const Stream& stream, const ShortConvGradArgs& args);

}  // namespace hone::kernels::cpu
