// Splits a matrix's columns into parts that ranks send one another, and joins parts into columns.
#pragma once

#include <vector>

#include "core/stream.h"
#include "core/tensor.h"

namespace hone::kernels {

inline constexpr int kMostColumnGroups = 3;

/// A matrix whose columns form groups, each of which is divided evenly among P parts, in their order. Part p is a
/// separate matrix: its share of every group, side by side. Copies bits unchanged.
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
