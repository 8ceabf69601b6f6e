// Makes the list of items: a single row (decode) is divided into splits of 512 keys; consecutive rows
// (prefill) are processed together, over all their keys; rows whose block tables begin with the same pages (a
// group's rollouts) read those pages together.
#include "kernels/cuda/attention_paged_plan.cuh"

#include "core/cuda/launch.cuh"
#include "kernels/cuda/attention.h"

namespace hone::kernels::cuda {
namespace {

constexpr int kThreads = 256;

/// True if a tile of rows starts at r. Otherwise the row joins the previous row's tile: it follows that row
/// in the same sequence, and the tile has not reached its aligned end.
__device__ __forceinline__ bool starts_tile(const PagedRows& a, int r) {
  return r == 0 || a.sequence[r - 1] != a.sequence[r] || a.position[r - 1] + 1 != a.position[r] ||
         a.position[r] % (kPagedTileRows / a.group) == 0;
}
__device__ __forceinline__ int tile_rows(const PagedRows& a, int r) {
  if (a.sequence[r] < 0 || !starts_tile(a, r)) return 0;
  int rows = 1;
  while (r + rows < a.rows && !starts_tile(a, r + rows)) ++rows;
  return rows;
}

/// Sum over the preceding threads of the block; `total` gets the sum over all threads. `scratch`: one value
/// per warp.
__device__ __forceinline__ int scan_block(int value, int* scratch, int* total) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int sum = value;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const int other = __shfl_up_sync(kFullWarp, sum, distance);
    if (lane >= distance) sum += other;
  }
  if (lane == 31) scratch[warp] = sum;
  __syncthreads();
  int before = 0;
  *total = 0;
  for (int w = 0; w < kThreads / 32; ++w) {
    if (w < warp) before += scratch[w];
    *total += scratch[w];
  }
  __syncthreads();
  return before + sum - value;
}

/// A chunk of a run's rows that fits in one item. It is chosen by position within the run, so that all its
/// rows find the same chunk.
struct Chunk {
  // highest: position of the highest row that takes part in splits, -1 if none does
  int first, rows, highest;
};
__device__ __forceinline__ Chunk chunk_of(const PagedRows& a, const PagedPlan& plan, int r) {
  const int run = a.prefix_row[r], most = kPagedTileRows / a.group;
  Chunk c{r - (r - run) % most, 0, -1};
  for (int i = c.first; i < min(c.first + most, a.rows) && a.prefix_row[i] == run; ++i, ++c.rows) {
    if (a.in_run(i) && plan.row_partial[i] != kWalksAll) c.highest = max(c.highest, a.position[i]);
  }
  return c;
}

/// The items that row r lists. Each item belongs to some (row, split) for which the list has room, so that
/// the list is never too short.
struct RowItems {
  int tile_rows;       // number of rows, from this one on, that read all their keys together
  // number of splits from 0 on that all rows of the chunk read together; number of those rows
  int whole, whole_rows;
  // the split in which the shared prefix ends; number of rows, from this one on, that read it together
  int tail, tail_rows;
  int own, owns;        // splits that this row reads alone: the first, and their number
  __device__ __forceinline__ int count() const { return (tile_rows > 0) + whole + (tail_rows > 0) + owns; }
};

/// Number of rows in an item of the split in which the prefix ends: `head` tiles are shared, each row has up
/// to `rest` more, and the item has at most `longest` tiles.
__device__ __forceinline__ int rows_of_tail(int head, int rest, int longest, int most) {
  return rest <= 0 ? most : max(1, min((longest - head) / rest, most));
}

__device__ __forceinline__ RowItems items_of(const PagedRows& a, const PagedPlan& plan, int r) {
  RowItems out{};
  if (r >= a.rows || a.sequence[r] < 0) return out;
  const bool alone = plan.row_partial[r] == kWalksAll;
  if (alone) out.tile_rows = tile_rows(a, r);
  else out.own = a.first_split(r);
  if (a.in_run(r)) {
    const Chunk chunk = chunk_of(a, plan, r);
    const int tiles = a.prefix_tokens[r] / kTileKeys, whole = tiles / kPagedSplitTiles, head = tiles % kPagedSplitTiles;
    if (r == chunk.first) {
      out.whole = min(whole, (chunk.highest + kPagedSplit) / kPagedSplit);
      out.whole_rows = chunk.rows;
    }
    const int last_tile = min(chunk.highest / kTileKeys - whole * kPagedSplitTiles, kPagedSplitTiles - 1);
    const int step = rows_of_tail(head, last_tile + 1 - head, plan.longest, chunk.rows), inside = r - chunk.first;
    if (head > 0 && inside % step == 0) {
      const int rows = min(step, chunk.rows - inside);
      for (int i = r; i < r + rows; ++i) {
        const bool reads = a.in_run(i) && plan.row_partial[i] != kWalksAll && a.last_split(i) >= whole;
        if (reads) out.tail = whole, out.tail_rows = rows;
      }
    }
    if (!alone) out.own = whole + (head > 0);
  }
  if (!alone) out.owns = max(0, a.last_split(r) - out.own + 1);
  return out;
}

/// Assigns memory for the states of rows with more than one split, until it is used up.
__device__ __forceinline__ void place_partials(const PagedRows& a, const PagedPlan& plan, int* scratch) {
  int before = 0;
  for (int base = 0; base < a.rows; base += kThreads) {
    const int r = base + int(threadIdx.x);
    const bool single = r < a.rows && tile_rows(a, r) == 1;
    const int splits = single ? a.last_split(r) - a.first_split(r) + 1 : 0, wanted = splits > 1 ? splits : 0;
    int total;
    const int at = before + scan_block(wanted, scratch, &total);
    before += total;
    if (r >= a.rows) continue;
    plan.row_partial[r] = splits == 1 ? kOneSplit : wanted && at + wanted <= plan.partials ? at : kWalksAll;
  }
}

/// Lists the items of every row, in one block.
__global__ void __launch_bounds__(kThreads, 1) list_paged_items_kernel(PagedRows a, PagedPlan plan, int kv_heads) {
  __shared__ int scratch[kThreads / 32];
  for (int i = int(threadIdx.x); i < a.rows * kv_heads; i += kThreads) plan.done[i] = 0;
  place_partials(a, plan, scratch);
  __syncthreads();  // because a row reads its neighbours' entries
  int before = 0;
  for (int base = 0; base < a.rows; base += kThreads) {
    const int r = base + int(threadIdx.x);
    const RowItems row = items_of(a, plan, r);
    int total;
    PagedItem* to = plan.items + before + scan_block(row.count(), scratch, &total);
    before += total;
    if (row.tile_rows) *to++ = {r, row.tile_rows, -1, INT_MAX};
    for (int i = 0; i < row.whole; ++i) *to++ = {r, row.whole_rows, i, INT_MAX};
    const int together = row.tail_rows > 1 ? a.prefix_tokens[r] / kTileKeys * kTileKeys : INT_MAX;
    if (row.tail_rows) *to++ = {r, row.tail_rows, row.tail, together};
    for (int i = 0; i < row.owns; ++i) *to++ = {r, 1, row.own + i, INT_MAX};
  }
  if (threadIdx.x == 0) *plan.count = before;
}

}  // namespace

void list_paged_items(const Stream& stream, const PagedRows& rows, const PagedPlan& plan, int kv_heads) {
  HONE_LAUNCH(list_paged_items_kernel, 1, kThreads, 0, stream, rows, plan, kv_heads);
}

}  // namespace hone::kernels::cuda
