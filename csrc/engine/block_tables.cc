#include "engine/block_tables.h"

#include <algorithm>

namespace hone::engine {

BlockTables::BlockTables(int32_t rows, int32_t width) : width_(width), pages_(size_t(rows) * size_t(width), 0) {
  for (int32_t row = rows - 1; row >= 0; --row) free_rows_.push_back(row);
}

int32_t BlockTables::open(const std::vector<int32_t>& pages) {
  const int32_t row = free_rows_.back();
  free_rows_.pop_back();
  std::copy(pages.begin(), pages.end(), pages_.begin() + int64_t(row) * width_);
  return row;
}

void BlockTables::close(int32_t& row) {
  if (row < 0) return;
  free_rows_.push_back(row);
  row = -1;
}

TensorView BlockTables::view() const { return i32(pages_.data(), {int64_t(pages_.size()) / width_, width_}); }

}  // namespace hone::engine
