// Divides a micro-batch's rows into blocks, over which gradients are summed and which ranks may divide.
#pragma once

#include <cstdint>
#include <vector>

#include "core/stream.h"
#include "core/tensor.h"

namespace hone::model {

/// Rows [first, first + count).
struct RowRange {
  int64_t first = 0, count = 0;
};
/// Part `part` of n rows in `parts` parts, which differ by one row at most.
inline RowRange part_of(int64_t n, int64_t part, int64_t parts) {
  const int64_t first = n * part / parts;
  return {first, n * (part + 1) / parts - first};
}
/// The rows of a view that are in `range`.
inline TensorView rows_of(TensorView view, const RowRange& range) {
  view.data = view.as<std::byte>() + range.first * view.row_stride * dtype_bytes(view.dtype);
  view.shape[0] = range.count;
  return view;
}

/// Neighbouring rows of a packed micro-batch, and those of its loss rows that are among them (as indices into loss_rows).
struct RowBlock {
  RowRange tokens, outputs;
};

/// T rows in `parts` blocks. loss_rows: `outputs` ascending indices of rows.
std::vector<RowBlock> row_blocks(int64_t tokens, const int32_t* loss_rows, int64_t outputs, int64_t parts);

/// Ranks that divide a micro-batch's rows. For attention they exchange data, so that each has all rows of a
/// part of the heads. All ranks make both calls together, in the same order.
class HeadExchange {
 public:
  virtual ~HeadExchange() = default;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  virtual int64_t tokens() const = 0;  // T of the whole micro-batch; rank p has part_of(T, p, ranks())
  /// rows: [T_p, W], columns side by side in groups of `widths`, each of which is divided among the ranks in their order.
  /// heads: [T, W / ranks()], this rank's part of every group, contiguous. Writes heads.
  virtual void to_heads(const Stream& stream, const TensorView& rows, const std::vector<int64_t>& widths, const TensorView& heads) = 0;
  /// The inverse of to_heads. Writes rows.
  virtual void to_rows(const Stream& stream, const TensorView& heads, const std::vector<int64_t>& widths, const TensorView& rows) = 0;
};

}  // namespace hone::model
