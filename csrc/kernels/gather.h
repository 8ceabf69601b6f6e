// Gathers rows by index (those that an objective reads), and scatters their gradients back.
#pragma once

#include "core/stream.h"
#include "core/tensor.h"

namespace hone::kernels {

/// to[r] = from[rows[r]]. R rows of width C out of T; any dtype of 2 or 4 bytes, equal for both. rows must be
/// in [0, T) (not checked).
struct GatherRowsArgs {
  TensorView from;  // [T, C] in, strided rows
  TensorView rows;  // [R]    i32 in
  TensorView to;    // [R, C] out, strided rows
};
void gather_rows(const Stream& stream, const GatherRowsArgs& args);

/// to[rows[r]] = from[r]; every other row of `to` becomes 0. rows must ascend strictly within [0, T) (not
/// checked).
struct ScatterRowsArgs {
  TensorView from;  // [R, C] in, strided rows
  TensorView rows;  // [R]    i32 in
  TensorView to;    // [T, C] out, contiguous
};
void scatter_rows(const Stream& stream, const ScatterRowsArgs& args);

}  // namespace hone::kernels
