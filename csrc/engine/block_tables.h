// The block tables of a step: which page holds which positions of each sequence or prompt that computes.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tensor.h"

namespace hone::engine {

/// One row of page numbers, in order of positions, for each computing sequence or prompt. A row belongs to one owner
/// from open() to close(); entries after the owner's pages are stale and unused.
class BlockTables {
 public:
  /// `width`: the pages of the longest context.
  BlockTables(int32_t rows, int32_t width);

  /// Opens a row that begins with `pages`. Callers never hold more rows than there are.
  int32_t open(const std::vector<int32_t>& pages);
  /// Sets the page of positions [column * W, (column + 1) * W).
  void set(int32_t row, size_t column, int32_t page) { pages_[size_t(row) * size_t(width_) + column] = page; }
  /// Frees the row and sets it to -1; does nothing if it is -1.
  void close(int32_t& row);

  TensorView view() const;  // [rows, width] i32

 private:
  int32_t width_;
  std::vector<int32_t> pages_, free_rows_;
};

}  // namespace hone::engine
