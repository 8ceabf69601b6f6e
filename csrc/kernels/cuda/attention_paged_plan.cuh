// Plans a paged attention step: a list of items, made on the device, so that a recorded graph serves every batch of its
// size. The grouping of rows decides which block reads a key, and never changes a row's bits.
#pragma once

#include <climits>

#include "core/stream.h"
#include "kernels/attention.h"
#include "kernels/cuda/attention_tile.cuh"
#include "kernels/cuda/scratch.h"

namespace hone::kernels::cuda {

inline constexpr int kPagedTileRows = 64;  // query rows of an item: rows of the batch times heads of a key head
inline constexpr int kPagedSplit = int(kAttentionSplit), kPagedSplitTiles = kPagedSplit / kTileKeys;

/// The rows of a step, as in AttentionPagedArgs.
struct PagedRows {
  const int32_t *sequence, *position;
  const int32_t *prefix_row, *prefix_tokens;  // or both null
  int rows, group, window;

  /// True if the row begins with the same pages as its neighbours and reads them from the first key on.
  __device__ __forceinline__ bool in_run(int r) const {
    return prefix_row && sequence[r] >= 0 && prefix_tokens[r] >= kTileKeys && first_key(position[r], window) == 0;
  }
  __device__ __forceinline__ int first_split(int r) const { return first_key(position[r], window) / kPagedSplit; }
  __device__ __forceinline__ int last_split(int r) const { return position[r] / kPagedSplit; }
};

/// Work of a block for one key head: rows [row, row + rows) and their keys of one split, or (-1) of all
/// splits. The rows share keys below `together`, which are read once; other keys are read per row.
struct PagedItem {
  int row, rows, split, together;
};
static_assert(sizeof(PagedItem) == kPagedItemBytes);

/// Filled in on the device.
struct PagedPlan {
  PagedItem* items;   // [rows + partials]
  int* count;
  int* row_partial;   // [rows] index of the states of a row's splits, or one of the two values below
  int* done;          // [rows * kv_heads] splits of a row and key head that are complete; 0 between two layers
  int partials;       // number of states that fit in memory
  int longest;        // most tiles of an item whose rows also read keys of their own: 8 (a split) or more
};
inline constexpr int kOneSplit = -1;  // a row with one split, which is its result
inline constexpr int kWalksAll = -2;  // a row without splits: padding, prefill, or no memory for its states

/// Keys of an item that a row reads; first > last for none.
struct KeySpan {
  int first, last;
};
__device__ __forceinline__ KeySpan key_span(const PagedRows& a, const PagedPlan& plan, const PagedItem& item, int row) {
  const int position = a.position[row], first = first_key(position, a.window);
  if (item.split < 0) return {first, position};
  const int begin = item.split * kPagedSplit, low = max(first, begin), high = min(position, begin + kPagedSplit - 1);
  if (low > high || plan.row_partial[row] == kWalksAll) return {INT_MAX, -1};
  return {low, high};
}

void list_paged_items(const Stream& stream, const PagedRows& rows, const PagedPlan& plan, int kv_heads);

}  // namespace hone::kernels::cuda
