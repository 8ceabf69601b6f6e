// Attention over a paged cache: decode rows and rows of chunked prefill in one launch. A page holds, per key head,
// W rows of D values, keys and values alike.
//
// A row alone (decode) is shared out by splits of 512 keys, rows that follow each other (prefill) walk their keys
// together; in both, all query heads of a key head read it once. What is whose is decided on the device, so that a
// recorded graph serves every batch of its size.
#include "kernels/cuda/attention.h"

#include <algorithm>

#include "core/cuda/launch.cuh"
#include "kernels/cuda/attention_walk.cuh"

namespace hone::kernels::cuda {
namespace {

constexpr int kWarps = 4, kThreads = kWarps * 32, kTileRows = kWarps * 16;
static_assert(kTileRows == kMaxHeadGroup);
/// Blocks in flight. A block has two tiles under way, so a few per multiprocessor keep the memory busy.
constexpr int kBlocks = 132 * 2;
constexpr int kPlanThreads = 256;
/// Rows times splits whose partial states the scratch has room for; rows beyond walk their splits in one block.
constexpr int64_t kPartials = 4096;

/// What a block does for one key head: rows [row, row + rows) of a sequence, keys of one split or (-1) of all.
struct PagedItem {
  int row, rows, split, partial;
};
/// A row whose splits meet again in the merge kernel.
struct SplitRow {
  int row, splits, partial;
};

/// Filled in on the device. `counts`: items, split rows.
struct PagedPlan {
  PagedItem* items;
  SplitRow* split_rows;
  int* counts;
  int partials;
};

struct Paged {
  const bf16* q;
  int64_t q_stride;
  const int32_t *row_sequence, *row_position, *tables;
  int64_t table_stride;
  const bf16 *keys, *values;
  int page_tokens, kv_heads, group, dim, window, rows;
  float scale_log2;
  bf16* out;
  int64_t out_stride;
  PagedPlan plan;
  float *partial_out, *partial_terms;  // [partial][head][dim] sums, [partial][head][2] maximum and total
};

/// Keys and values of one sequence and key head.
struct PagedRows {
  const bf16 *keys, *values;  // of the key head, page 0
  const int32_t* table;
  int page_tokens, dim;
  int64_t page_stride;

  __device__ __forceinline__ void locate(int row, const bf16** key, const bf16** value) const {
    const int64_t at = table[row / page_tokens] * page_stride + int64_t(row % page_tokens) * dim;
    *key = keys + at;
    *value = values + at;
  }
};

// ---- plan ----------------------------------------------------------------------------------------------

/// Whether a tile of rows starts at r: rows join the one before if they follow it and share its aligned run.
__device__ __forceinline__ bool starts_tile(const Paged& a, int r, int tile_rows) {
  return r == 0 || a.row_sequence[r - 1] != a.row_sequence[r] || a.row_position[r - 1] + 1 != a.row_position[r] ||
         a.row_position[r] % tile_rows == 0;
}

/// Sum over the threads before this one; `total` gets that of all. `scratch`: one value per warp.
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
  for (int w = 0; w < kPlanThreads / 32; ++w) {
    if (w < warp) before += scratch[w];
    *total += scratch[w];
  }
  __syncthreads();
  return before + sum - value;
}

/// One block lists every row's items. Rows with a negative sequence are padding and get none.
__global__ void __launch_bounds__(kPlanThreads) attention_paged_plan_kernel(Paged a) {
  __shared__ int scratch[kPlanThreads / 32];
  const int tile_rows = kTileRows / a.group;
  int items_before = 0, partials_before = 0, split_rows_before = 0;
  for (int base = 0; base < a.rows; base += kPlanThreads) {
    const int r = base + int(threadIdx.x);
    int rows = 0, splits = 0;
    if (r < a.rows && a.row_sequence[r] >= 0 && starts_tile(a, r, tile_rows)) {
      for (rows = 1; r + rows < a.rows && !starts_tile(a, r + rows, tile_rows);) ++rows;
      const int position = a.row_position[r], split = int(kAttentionSplit);
      if (rows == 1) splits = position / split - first_key(position, a.window) / split + 1;
    }
    int total;
    const int wanted = splits > 1 ? splits : 0, partial = partials_before + scan_block(wanted, scratch, &total);
    partials_before += total;
    const bool split = wanted && partial + wanted <= a.plan.partials;
    const int items = split ? splits : min(rows, 1);
    int item = items_before + scan_block(items, scratch, &total);
    items_before += total;
    const int split_row = split_rows_before + scan_block(split, scratch, &total);
    split_rows_before += total;
    if (split) a.plan.split_rows[split_row] = {r, splits, partial};
    for (int i = 0; i < items; ++i) a.plan.items[item + i] = {r, rows, split ? i : -1, partial + i};
  }
  if (threadIdx.x == 0) a.plan.counts[0] = items_before, a.plan.counts[1] = split_rows_before;
}

// ---- attention -----------------------------------------------------------------------------------------

/// The lane's row in the tile, if it has one: (row of the batch, query head) pairs, heads of the group side by side.
struct PagedLane {
  int row, head;
  bool valid;
};
__device__ __forceinline__ PagedLane lane_row(const Paged& a, const PagedItem& item, int kv_head, int inside) {
  return {item.row + inside / a.group, kv_head * a.group + inside % a.group, inside < item.rows * a.group};
}

template <int kDim>
__device__ __forceinline__ void store_paged(const Paged& a, const PagedItem& item, const PagedLane& lane, int half,
                                            const RowStates<kDim>& s) {
  if (item.split < 0) {
    store_row<kDim>(s.out, half, 1.0f / s.total[half], a.dim,
                    a.out + lane.row * a.out_stride + int64_t(lane.head) * a.dim);
    return;
  }
  const int64_t at = int64_t(item.partial) * (a.kv_heads * a.group) + lane.head;
  const int column = threadIdx.x % 4 * 2;
#pragma unroll
  for (int n = 0; n < kDim / 8; ++n) {
    if (n * 8 >= a.dim) continue;
    float* const to = a.partial_out + at * a.dim + n * 8 + column;
    to[0] = s.out[n][2 * half];
    to[1] = s.out[n][2 * half + 1];
  }
  if (column) return;
  a.partial_terms[2 * at] = s.maximum[half];
  a.partial_terms[2 * at + 1] = s.total[half];
}

template <int kDim>
__device__ __forceinline__ void attend_item(const Paged& a, const PagedItem& item, int kv_head, bf16* shared) {
  const int position = a.row_position[item.row], split = int(kAttentionSplit);
  int low = first_key(position, a.window), high = position + item.rows - 1;
  if (item.split >= 0) {
    const int begin = (low / split + item.split) * split;
    low = max(low, begin);
    high = min(high, begin + split - 1);
  }
  const int64_t head_elements = int64_t(a.page_tokens) * a.dim;
  const PagedRows keys{a.keys + kv_head * head_elements, a.values + kv_head * head_elements,
                       a.tables + a.row_sequence[item.row] * a.table_stride, a.page_tokens, a.dim,
                       a.kv_heads * head_elements};
  // A decode row keeps one warp busy: another one in each block, so that all tensor cores have work.
  const int block = (int(threadIdx.x) / 32 + int(blockIdx.x)) % kWarps * 16, inside = block + int(threadIdx.x) % 32 / 4;
  PagedLane lanes[2];
  const bf16* q_rows[2];
  KeyRange range;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    lanes[half] = lane_row(a, item, kv_head, inside + 8 * half);
    const int at = position + lanes[half].row - item.row;
    q_rows[half] =
        lanes[half].valid ? a.q + lanes[half].row * a.q_stride + int64_t(lanes[half].head) * a.dim : nullptr;
    range.first[half] = max(low, first_key(at, a.window));
    range.last[half] = lanes[half].valid ? min(high, at) : -1;
  }
  const int rows_end = min(block + 16, item.rows * a.group);
  const int last = rows_end > block ? position + (rows_end - 1) / a.group : -1;
  const WarpRows rows{position + block / a.group, last, a.window};
  uint32_t q[kDim / 16][4];
  load_left<kDim>(q_rows[0], q_rows[1], a.dim, q);
  RowStates<kDim> state;
  walk_keys<kDim, kThreads>(keys, low, high, a.dim, rows, q, range, Exp2Scaled{a.scale_log2}, shared, state);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    if (lanes[half].valid) store_paged<kDim>(a, item, lanes[half], half, state);
  }
}

template <int kDim>
__global__ void __launch_bounds__(kThreads) attention_paged_kernel(Paged a) {
  HONE_DYNAMIC_SHARED(bf16, shared);
  const int count = a.plan.counts[0] * a.kv_heads;
  for (int i = int(blockIdx.x); i < count; i += int(gridDim.x)) {
    attend_item<kDim>(a, a.plan.items[i / a.kv_heads], i % a.kv_heads, shared);
  }
}

/// A warp per split row and head: its splits, ascending, as the packed forward merges them.
__global__ void __launch_bounds__(kThreads) attention_paged_merge_kernel(Paged a) {
  if (int(blockIdx.x) >= a.plan.counts[1]) return;
  const SplitRow row = a.plan.split_rows[blockIdx.x];
  const int heads = a.kv_heads * a.group, lane = threadIdx.x % 32;
  const Exp2Scaled exp{a.scale_log2};
  for (int head = int(threadIdx.x) / 32; head < heads; head += kWarps) {
    float maximum = -INFINITY, total = 0.0f, out[kMaxHeadDim / 32] = {};
    for (int split = 0; split < row.splits; ++split) {
      const int64_t at = int64_t(row.partial + split) * heads + head;
      const MergeWeights w = merge_weights(maximum, a.partial_terms[2 * at], exp);
      maximum = w.maximum;
      total = fmaf(a.partial_terms[2 * at + 1], w.b, total * w.a);
#pragma unroll
      for (int i = 0; i < int(kMaxHeadDim) / 32; ++i) {
        const int d = i * 32 + lane;
        if (d < a.dim) out[i] = fmaf(a.partial_out[at * a.dim + d], w.b, out[i] * w.a);
      }
    }
    bf16* const to = a.out + row.row * a.out_stride + int64_t(head) * a.dim;
    const float factor = 1.0f / total;
#pragma unroll
    for (int i = 0; i < int(kMaxHeadDim) / 32; ++i) {
      const int d = i * 32 + lane;
      if (d < a.dim) to[d] = __float2bfloat16(out[i] * factor);
    }
  }
}

template <int kDim>
void launch_paged(const Stream& stream, int64_t blocks, const Paged& args) {
  constexpr size_t shared = walk_shared_bytes<kDim, kThreads>();
  HONE_LAUNCH((attention_paged_kernel<kDim>), unsigned(blocks), kThreads, shared, stream, args);
}

// ---- kv_write ------------------------------------------------------------------------------------------

struct KvWrite {
  const bf16 *k, *v;
  int64_t k_stride, v_stride;
  const int32_t *row_sequence, *row_position, *tables;
  int64_t table_stride;
  bf16 *keys, *values;
  int page_tokens, kv_heads, dim;
};

/// A block per row, 16 bytes per thread.
__global__ void __launch_bounds__(kThreads) kv_write_kernel(KvWrite a) {
  const int64_t row = blockIdx.x;
  const int sequence = a.row_sequence[row];
  if (sequence < 0) return;
  const int position = a.row_position[row], chunks = a.dim / 8;
  const int64_t page = a.tables[sequence * a.table_stride + position / a.page_tokens];
  for (int i = int(threadIdx.x); i < a.kv_heads * chunks; i += kThreads) {
    const int64_t inside = int64_t(i / chunks) * a.page_tokens + position % a.page_tokens;
    const int64_t to = (page * a.kv_heads * a.page_tokens + inside) * a.dim + i % chunks * 8;
    *reinterpret_cast<uint4*>(a.keys + to) = *reinterpret_cast<const uint4*>(a.k + row * a.k_stride + i * 8);
    *reinterpret_cast<uint4*>(a.values + to) = *reinterpret_cast<const uint4*>(a.v + row * a.v_stride + i * 8);
  }
}

/// A row has one item, or as many as it has partial states.
int64_t items_for(int64_t rows, int64_t partials) { return rows + partials; }

int64_t scratch_for(int64_t rows, int64_t heads, int64_t dim, int64_t partials) {
  return Arena::rounded(items_for(rows, partials) * int64_t(sizeof(PagedItem))) +
         Arena::rounded(rows * int64_t(sizeof(SplitRow))) + Arena::rounded(2 * sizeof(int)) +
         Arena::rounded(partials * heads * dim * int64_t(sizeof(float))) +
         Arena::rounded(partials * heads * 2 * int64_t(sizeof(float)));
}

/// Room for the states of every row's splits, up to kPartials.
int64_t partials_for(int64_t rows, int64_t tokens) {
  return std::min(kPartials, rows * ((tokens + kAttentionSplit - 1) / kAttentionSplit));
}
/// And no more than `bytes` hold; 256 is what rounding may add.
int64_t partials_within(int64_t bytes, int64_t wanted, int64_t rows, int64_t heads, int64_t dim) {
  if (scratch_for(rows, heads, dim, wanted) <= bytes) return wanted;
  const int64_t left = bytes - scratch_for(rows, heads, dim, 0) - 256;
  return std::max<int64_t>(0, left / (heads * (dim + 2) * int64_t(sizeof(float)) + int64_t(sizeof(PagedItem))));
}

}  // namespace

int64_t attention_paged_scratch_bytes(int64_t rows, int64_t heads, int64_t head_dim, int64_t tokens) {
  return scratch_for(rows, heads, head_dim, partials_for(rows, tokens));
}

void attention_paged(const Stream& stream, const AttentionPagedArgs& a) {
  const int64_t rows = a.q.dim(0), heads = a.q.dim(1), dim = a.pages.head_dim, mark = a.scratch->mark();
  const int64_t wanted = partials_for(rows, a.block_tables.dim(1) * a.pages.page_tokens);
  const int64_t partials = partials_within(a.scratch->capacity() - mark, wanted, rows, heads, dim);
  Paged args{a.q.as<bf16>(), a.q.row_stride, a.row_sequence.as<int32_t>(), a.row_position.as<int32_t>(),
             a.block_tables.as<int32_t>(), a.block_tables.row_stride, a.pages.keys.as<bf16>(),
             a.pages.values.as<bf16>(), int(a.pages.page_tokens), int(a.pages.kv_heads),
             int(heads / a.pages.kv_heads), int(dim), a.window, int(rows), a.scale * kLog2E, a.out.as<bf16>(),
             a.out.row_stride, {}, nullptr, nullptr};
  args.plan = {a.scratch->take_array<PagedItem>(items_for(rows, partials)), a.scratch->take_array<SplitRow>(rows),
               a.scratch->take_array<int>(2), int(partials)};
  args.partial_out = a.scratch->take_array<float>(partials * heads * dim);
  args.partial_terms = a.scratch->take_array<float>(partials * heads * 2);
  HONE_LAUNCH(attention_paged_plan_kernel, 1, kPlanThreads, 0, stream, args);
  const int64_t blocks = std::min<int64_t>(kBlocks, items_for(rows, partials) * a.pages.kv_heads);
  if (dim <= 64) launch_paged<64>(stream, blocks, args);
  else launch_paged<128>(stream, blocks, args);
  // A split row has two partial states at least.
  HONE_LAUNCH(attention_paged_merge_kernel, unsigned(std::min(rows, partials / 2)), kThreads, 0, stream, args);
  a.scratch->release(mark);
}

void kv_write(const Stream& stream, const KvWriteArgs& a) {
  const KvWrite args{a.k.as<bf16>(), a.v.as<bf16>(), a.k.row_stride, a.v.row_stride, a.to.row_sequence.as<int32_t>(),
                     a.to.row_position.as<int32_t>(), a.to.block_tables.as<int32_t>(), a.to.block_tables.row_stride,
                     a.to.pages.keys.as<bf16>(), a.to.pages.values.as<bf16>(), int(a.to.pages.page_tokens),
                     int(a.to.pages.kv_heads), int(a.to.pages.head_dim)};
  HONE_LAUNCH(kv_write_kernel, unsigned(a.k.dim(0)), kThreads, 0, stream, args);
}

}  // namespace hone::kernels::cuda
