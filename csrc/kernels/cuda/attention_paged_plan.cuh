// Plans a step of paged attention: the device makes a list of work items, so that a recorded CUDA graph
// serves every batch of its size. The plan decides which block reads a key, and never changes a row's bits.
#pragma once

#include <climits>

#include "core/stream.h"
#include "kernels/attention.h"
#include "kernels/cuda/attention_tile.cuh"
#include "kernels/cuda/scratch.h"

namespace hone::kernels::cuda {

// query rows of an item: rows of the batch times query heads per key head
inline constexpr int kPagedTileRows = 64;
inline constexpr int kPagedSplit = int(kAttentionSplit), kPagedSplitTiles = kPagedSplit / kTileKeys;

/// The rows of a step; fields as in AttentionPagedArgs.
struct PagedRows {
  const int32_t *sequence, *position;
  const int32_t *prefix_row, *prefix_tokens;  // both null: no shared pages
  int rows, group, window;

  /// True if the row shares leading pages with neighbouring rows and attends from the first key on.
  __device__ __forceinline__ bool in_run(int r) const {
    return prefix_row && sequence[r] >= 0 && prefix_tokens[r] >= kTileKeys && first_key(position[r], window) == 0;
  }
  __device__ __forceinline__ int first_split(int r) const { return first_key(position[r], window) / kPagedSplit; }
  __device__ __forceinline__ int last_split(int r) const { return position[r] / kPagedSplit; }
};

/// A block's work for one key head: rows [row, row + rows) and their keys in split `split`, or in all splits
/// if it is -1. The rows share the keys below `together`, which the block reads once; it reads other keys
/// once per row.
struct PagedItem {
  int row, rows, split, together;
};
static_assert(sizeof(PagedItem) == kPagedItemBytes);

/// The list of items and its bookkeeping, which kernels fill in on the device.
struct PagedPlan {
  PagedItem* items;   // [rows + partials]
  int* count;
  int* row_partial;   // [rows] index of the states of a row's splits, or kOneSplit or kWalksAll
  // [rows * kv_heads] number of finished splits of a row and key head; 0 between two layers
  int* done;
  int partials;       // number of per-split states that fit in memory
  // limit of the tiles of an item whose rows also read unshared keys: at least 8 (one split)
  int longest;
};
inline constexpr int kOneSplit = -1;  // the row has only one split, whose state is its result
// one block processes all keys of the row: padding, prefill, or no memory for its states
inline constexpr int kWalksAll = -2;

/// The keys of an item that a row reads; first > last: none.
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
