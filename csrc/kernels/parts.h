// Sums that several processes share: adds parts in order, and sums squares block by block.
#pragma once

#include "core/stream.h"
#include "core/tensor.h"

namespace hone::kernels {

/// sum[i] <- ((sum[i] + parts[0, i]) + parts[1, i]) + ..., for each element, in f32: the same bits on either
/// backend and for any number of threads.
struct AddPartsArgs {
  TensorView parts;  // [P, n] f32 in, strided rows
  TensorView sum;    // [n] f32 in/out
};
void add_parts(const Stream& stream, const AddPartsArgs& args);

/// Number of elements in one block of BlockSquaresArgs.
inline constexpr int64_t kSquaresBlock = 4096;
/// squares[b] = sum of (x[i] - from[i])^2 over the b-th block of kSquaresBlock elements (the last may be
/// shorter). Differences are f32, squares and sums f64, in an order that depends only on a block's length.
/// NaN or Inf if any value is.
struct BlockSquaresArgs {
  TensorView x;        // [n] f32 in
  TensorView from{};   // [n] f32 in; empty: zeros
  TensorView squares;  // [ceil(n / kSquaresBlock)] f64 out
};
void block_squares(const Stream& stream, const BlockSquaresArgs& args);

}  // namespace hone::kernels
