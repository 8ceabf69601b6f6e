#include "model/row_blocks.h"

#include <algorithm>

namespace hone::model {

std::vector<RowBlock> row_blocks(int64_t tokens, const int32_t* loss_rows, int64_t outputs, int64_t parts) {
  const auto before = [&](int64_t row) { return int64_t(std::lower_bound(loss_rows, loss_rows + outputs, row) - loss_rows); };
  std::vector<RowBlock> blocks;
  for (int64_t p = 0; p < parts; ++p) {
    const RowRange of = part_of(tokens, p, parts);
    const int64_t first = before(of.first);
    blocks.push_back({of, {first, before(of.first + of.count) - first}});
  }
  return blocks;
}

}  // namespace hone::model
