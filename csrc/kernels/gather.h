// Rows by index: packing the rows that an objective reads, and their gradients back to their places.
#pragma once

#include "core/stream.h"
#include "core/tensor.h"

namespace hone::kernels {

/// to[r] = from[rows[r]]. R rows of width C out of T; any dtype of 2 or 4 bytes, the same on both sides.
/// rows is trusted to be in [0, T).
struct GatherRowsArgs {
  TensorView from;  // [T, C] in, strided rows
  TensorView rows;  // [R]    i32 in
  TensorView to;    // [R, C] out, strided rows
};
void gather_rows(const Stream& stream, const GatherRowsArgs& args);

/// to[rows[r]] = from[r], every other row of `to` is 0. rows is trusted to ascend strictly in [0, T).
struct ScatterRowsArgs {
  TensorView from;  // [R, C] in, strided rows
  TensorView rows;  // [R]    i32 in
  TensorView to;    // [T, C] out, contiguous
};
void scatter_rows(const Stream& stream, const ScatterRowsArgs& args);

}  // namespace hone::kernels
