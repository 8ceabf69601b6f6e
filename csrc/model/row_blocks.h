// Divides a micro-batch's rows into blocks. Gradients are summed per block, and ranks may divide the blocks.
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
/// The rows of part `part` when n rows are divided into `parts` parts whose sizes differ by at most one row.
inline RowRange part_of(int64_t n, int64_t part, int64_t parts) {
  const int64_t first = n * part / parts;
  return {first, n * (part + 1) / parts - first};
}
/// A view of the rows of `view` that lie in `range`.
inline TensorView rows_of(TensorView view, const RowRange& range) {
  view.data = view.as<std::byte>() + range.first * view.row_stride * dtype_bytes(view.dtype);
  view.shape[0] = range.count;
  return view;
}

/// A range of a packed micro-batch's rows, and the range of indices into loss_rows whose rows lie in it.
struct RowBlock {
  RowRange tokens, outputs;
};

/// Divides T rows into `parts` blocks. loss_rows: `outputs` ascending row indices.
std::vector<RowBlock> row_blocks(int64_t tokens, const int32_t* loss_rows, int64_t outputs, int64_t parts);

/// Exchanges data between ranks that divide a micro-batch's rows, so that in attention each rank has all rows
/// of some of the heads. All ranks make the calls of to_heads and to_rows together, in the same order.
class HeadExchange {
 public:
  virtual ~HeadExchange() = default;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  virtual int64_t tokens() const = 0;  // T of the whole micro-batch; rank p has part_of(T, p, ranks())
  /// rows: [T_p, W], whose columns are groups of `widths` side by side; each group is divided evenly among
  /// the ranks, in rank order. heads: [T, W / ranks()], this rank's part of every group, contiguous. Reads
  /// rows; writes heads.
  virtual void to_heads(const Stream& stream, const TensorView& rows, const std::vector<int64_t>& widths, const TensorView& heads) = 0;
  /// The inverse of to_heads: reads heads, writes rows.
  virtual void to_rows(const Stream& stream, const TensorView& heads, const std::vector<int64_t>& widths, const TensorView& rows) = 0;
};

}  // namespace hone::model
