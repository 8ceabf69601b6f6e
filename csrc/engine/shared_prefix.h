// Finds the rows of a step whose block tables begin with the same pages.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tensor.h"

namespace hone::engine {

/// Computes prefix_row and prefix_tokens of AttentionPagedArgs. Consecutive rows whose block tables begin
/// with the same pages form a run; for every row of a run these are the run's first row and the number of
/// tokens in the shared pages, and for other rows the row itself and 0. A run ends where the shared prefix
/// would become shorter than that of its first two rows. table_rows [R]: rows of block_tables [B, M]; both
/// results [R] are in host memory.
void find_shared_prefixes(const std::vector<int32_t>& table_rows, const TensorView& block_tables, int32_t page_tokens,
                          int32_t* prefix_row, int32_t* prefix_tokens);

}  // namespace hone::engine
