// The CPU backend of kernels/columns.h: arguments are already checked.
#pragma once

#include "kernels/columns.h"

namespace hone::kernels::cpu {

void split_columns(const Stream& stream, const ColumnPartsArgs& args);
void join_columns(const Stream& stream, const ColumnPartsArgs& args);

}  // namespace hone::kernels::cpu
