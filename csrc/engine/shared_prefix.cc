#include "engine/shared_prefix.h"

#include <algorithm>

namespace hone::engine {

void find_shared_prefixes(const std::vector<int32_t>& table_rows, const TensorView& block_tables, int32_t page_tokens,
                          int32_t* prefix_row, int32_t* prefix_tokens) {
  const int64_t width = block_tables.dim(1);
  const auto shared = [&](int32_t a, int32_t b) {
    const int32_t* const first = block_tables.row<int32_t>(a);
    return int32_t(std::mismatch(first, first + width, block_tables.row<int32_t>(b)).first - first) * page_tokens;
  };
  for (int32_t r = 0, run = 0; r < int32_t(table_rows.size()); ++r) {
    const int32_t last = r > 0 ? table_rows[size_t(r) - 1] : -1, mine = table_rows[size_t(r)];
    // Consecutive rows with the same table belong to one prompt, whose keys the kernel reads together anyway.
    const int32_t tokens = r > 0 && mine != last ? shared(table_rows[size_t(run)], mine) : 0;
    const bool joins = tokens > 0 && (r == run + 1 || tokens >= prefix_tokens[run]);
    if (!joins) run = r;
    else if (r == run + 1) prefix_tokens[run] = tokens;
    prefix_row[r] = run;
    prefix_tokens[r] = joins ? prefix_tokens[run] : 0;
  }
}

}  // namespace hone::engine
