#pragma once

#include "kernels/router_loss.h"

namespace hone::kernels::cpu {

void router_loss(const Stream& stream, const RouterLossArgs& args);

}  // namespace hone::kernels::cpu
