// The block tables of a step: for each sequence or prompt that computes, the KV pages of its positions.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tensor.h"

namespace hone::engine {

/// A table with one row of page numbers, in order of positions, for each sequence or prompt that computes.
/// From open() to close() a row belongs to one sequence or prompt; entries after its pages are stale and
/// unused.
class BlockTables {
 public:
  /// `width`: number of pages that the longest context needs.
  BlockTables(int32_t rows, int32_t width);

  /// Reserves a row, which begins with `pages`, and returns its index. The caller never needs more rows than
  /// there are.
  int32_t open(const std::vector<int32_t>& pages);
  /// Sets the page that holds positions [column * W, (column + 1) * W).
  void set(int32_t row, size_t column, int32_t page) { pages_[size_t(row) * size_t(width_) + column] = page; }
  /// Frees a row and sets the caller's index to -1; does nothing if it is -1.
  void close(int32_t& row);

  TensorView view() const;  // [rows, width] i32

 private:
  int32_t width_;
  std::vector<int32_t> pages_, free_rows_;
};

}  // namespace hone::engine
