// Helpers for processes that share a sum: adding parts in order, squares block by block.
#pragma once

#include "core/stream.h"
#include "core/tensor.h"

namespace hone::kernels {

/// sum[i] <- ((sum[i] + parts[0, i]) + parts[1, i]) + ..., each element by itself, in f32: the same bits on either backend
/// and for any number of threads.
struct AddPartsArgs {
  TensorView parts;  // [P, n] f32 in, strided rows
  TensorView sum;    // [n] f32 in/out
};
void add_parts(const Stream& stream, const AddPartsArgs& args);

/// Elements of one block below.
inline constexpr int64_t kSquaresBlock = 4096;
/// squares[b] = sum of (x[i] - from[i])^2 over the b-th block of kSquaresBlock elements, the last of which may be shorter:
/// differences in f32, squares and sums in f64, in an order that depends on a block's length alone. NaN or Inf if any value is.
struct BlockSquaresArgs {
  TensorView x;        // [n] f32 in
  TensorView from{};   // [n] f32 in, or empty: 0
  TensorView squares;  // [ceil(n / kSquaresBlock)] f64 out
};
void block_squares(const Stream& stream, const BlockSquaresArgs& args);

}  // namespace hone::kernels
