// Splits a matrix's columns into parts that ranks send to one another, and joins such parts again.
#pragma once

#include <vector>

#include "core/stream.h"
#include "core/tensor.h"

namespace hone::kernels {

inline constexpr int kMostColumnGroups = 3;

/// A matrix whose columns form groups; each group is divided evenly into P parts, in order. Part p is a
/// separate matrix that has part p of every group, side by side. Values are copied unchanged.
struct ColumnPartsArgs {
  TensorView whole;                    // [R, W] f32 or bf16, strided rows
  // width of each group, a multiple of P; at most kMostColumnGroups of them, whose sum is W
  const std::vector<int64_t>& widths;
  TensorView parts;                    // [P, R W / P] of the same dtype, strided rows: row p has part p, [R, W / P]
};
/// Reads whole, writes parts.
void split_columns(const Stream& stream, const ColumnPartsArgs& args);
/// Reads parts, writes whole.
void join_columns(const Stream& stream, const ColumnPartsArgs& args);

}  // namespace hone::kernels
