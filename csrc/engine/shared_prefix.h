// Finds the rows of a step whose block tables begin with the same pages.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tensor.h"

namespace hone::engine {

/// For AttentionPagedArgs. For every row: the first row of its run of neighbours with the same leading pages, and the
/// number of tokens in those pages; itself and 0 for a row without such neighbours. A run ends where the prefix would
/// become shorter than that of its first two rows. table_rows [R]: rows of block_tables [B, M]; both results [R], on
/// the host.
void find_shared_prefixes(const std::vector<int32_t>& table_rows, const TensorView& block_tables, int32_t page_tokens,
                          int32_t* prefix_row, int32_t* prefix_tokens);

}  // namespace hone::engine
