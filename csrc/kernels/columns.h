// Columns of a matrix as parts that ranks send one another, and parts as columns.
#pragma once

#include <vector>

#include "core/stream.h"
#include "core/tensor.h"

namespace hone::kernels {

inline constexpr int kMostColumnGroups = 3;

/// A matrix whose columns lie side by side in groups, each of which is divided evenly among P parts, in their order. Part p
/// is a matrix of its own: of every group its share, side by side. Bits are moved as they are.
struct ColumnPartsArgs {
  TensorView whole;                    // [R, W] f32 or bf16, strided rows
  const std::vector<int64_t>& widths;  // of the groups, kMostColumnGroups at most: multiples of P whose sum is W
  TensorView parts;                    // [P, R W / P] of the same dtype, strided rows: row p has part p, [R, W / P]
};
/// Writes parts.
void split_columns(const Stream& stream, const ColumnPartsArgs& args);
/// Writes whole.
void join_columns(const Stream& stream, const ColumnPartsArgs& args);

}  // namespace hone::kernels
