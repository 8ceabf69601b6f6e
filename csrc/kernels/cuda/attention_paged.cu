// Attention over a paged KV cache: decode rows and rows of chunked prefill in one launch. A page holds, per
// key head, W rows of D values, for keys and for values. The list that attention_paged_plan.cu makes gives
// each block its work; a block reads a tile once for all query heads of a key head and all rows of an item.
#include "kernels/cuda/attention.h"

#include <algorithm>

#include "core/cuda/launch.cuh"
#include "kernels/cuda/early.cuh"
#include "kernels/cuda/attention_paged_plan.cuh"
#include "kernels/cuda/attention_walk.cuh"

namespace hone::kernels::cuda {
namespace {

constexpr int kWarps = 4, kThreads = kWarps * 32;
static_assert(kPagedTileRows == kWarps * 16 && kPagedTileRows == kMaxHeadGroup);
/// Number of blocks launched. A block has two tiles loading, so a few blocks per multiprocessor keep the
/// memory busy.
constexpr int kBlocks = 132 * 2;

struct Paged {
  PagedRows rows;
  PagedPlan plan;
  const bf16* q;
  int64_t q_stride;
  const int32_t* tables;
  int64_t table_stride;
  const bf16 *keys, *values;
  int page_tokens, kv_heads, dim;
  float scale_log2;
  bf16* out;
  int64_t out_stride;
  // [partial][head][dim] sums of values; [partial][head][2] maximum and total
  float *partial_out, *partial_terms;
  const float* sinks;  // [H] or null

  __device__ __forceinline__ const float* sink(int head) const { return sinks ? sinks + head : nullptr; }
};

/// Keys and values of one sequence and key head.
struct PagedKeys {
  const bf16 *keys, *values;  // where page 0 holds those of the key head
  const int32_t* table;
  int page_tokens, dim;
  int64_t page_stride;

  __device__ __forceinline__ void locate(int row, const bf16** key, const bf16** value) const {
    const int64_t at = table[row / page_tokens] * page_stride + int64_t(row % page_tokens) * dim;
    *key = keys + at;
    *value = values + at;
  }
};

// ---- attention -----------------------------------------------------------------------------------------

/// The row of the tile that a lane holds, if any: a (row of the batch, query head) pair; heads of the group
/// are side by side.
struct PagedLane {
  int row, head;
  bool valid;
};

/// The keys that a warp's 16 rows read: all rows read keys [from, to]; no row reads a key beyond `last`.
struct WarpSpan {
  int first_row, last_row;  // rows of the batch; last_row < first_row: none
  int from = 0, to = INT_MAX, last = -1;
};
__device__ __forceinline__ WarpSpan warp_span(const Paged& a, const PagedItem& item, int block) {
  WarpSpan out{item.row + block / a.rows.group, item.row + min(item.rows - 1, (block + 15) / a.rows.group)};
  for (int row = out.first_row; row <= out.last_row; ++row) {
    const KeySpan span = key_span(a.rows, a.plan, item, row);
    if (span.first > span.last) continue;
    out.from = max(out.from, span.first), out.to = min(out.to, span.last), out.last = max(out.last, span.last);
  }
  return out;
}

/// Iterates over the tiles of an item: first the shared ones, then each row's own.
template <int kDim>
struct PagedWalk {
  static constexpr int kKeys = Division<kDim>::kKeys;
  const Paged& a;
  const PagedItem& item;
  const WarpSpan& warp;
  const PagedLane (&lanes)[2];
  const KeyRange& ranges;
  PagedKeys keys;
  // the block's part; row that reads the tile (item.row - 1: all rows), first key of the tile, range of its keys
  int part, row, base, low, high;

  __device__ __forceinline__ bool everyone() const { return row < item.row; }
  __device__ __forceinline__ bool begin() {
    row = item.row - 1, low = INT_MAX, high = -1;
    for (int r = item.row; r < item.row + item.rows; ++r) {
      const KeySpan span = key_span(a.rows, a.plan, item, r);
      low = min(low, span.first), high = max(high, span.last);
    }
    high = min(high, item.together - 1);
    return open(item.row) || advance();
  }
  __device__ __forceinline__ bool advance() {
    base += kKeys;
    if (base <= high) return true;
    while (++row < item.row + item.rows) {
      const KeySpan span = key_span(a.rows, a.plan, item, row);
      low = max(span.first, item.together), high = span.last;
      if (open(row)) return true;
    }
    return false;
  }
  __device__ __forceinline__ bool open(int of) {
    keys.table = a.tables + a.rows.sequence[of] * a.table_stride;
    base = low / kKeys * kKeys;
    return low <= high;
  }
  __device__ __forceinline__ void load(bf16* tile_keys, bf16* tile_values) const {
    load_keys<kDim, kThreads>(keys, base, low, high, a.dim, part, tile_keys, tile_values);
  }
  __device__ __forceinline__ bool busy() const {
    return everyone() ? base <= warp.last : row >= warp.first_row && row <= warp.last_row;
  }
  __device__ __forceinline__ bool inside() const {
    return everyone() && base >= warp.from && base + kKeys - 1 <= warp.to;
  }
  __device__ __forceinline__ KeyRange range() const {
    if (everyone()) return ranges;
    KeyRange out = ranges;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (lanes[half].row != row) out.last[half] = -1;
    }
    return out;
  }
  __device__ __forceinline__ bool continues() const { return base + kKeys <= warp.last; }
};

template <int kDim>
__device__ __forceinline__ void store_paged(const Paged& a, const PagedItem& item, const PagedLane& lane, int half,
                                            RowStates<kDim>& s, int part) {
  constexpr int kColumns = Division<kDim>::kColumns;
  const int first = part * kColumns;
  const int partial = item.split < 0 ? kOneSplit : a.plan.row_partial[lane.row];
  if (partial == kOneSplit) {
    const float factor = finish_row(s.maximum[half], s.total[half], Exp2Scaled{a.scale_log2}, a.sink(lane.head));
    store_row<kColumns>(s.out, half, factor, a.dim - first,
                        a.out + lane.row * a.out_stride + int64_t(lane.head) * a.dim + first);
    return;
  }
  const int64_t at =
      int64_t(partial + item.split - a.rows.first_split(lane.row)) * (a.kv_heads * a.rows.group) + lane.head;
  const int column = threadIdx.x % 4 * 2;
#pragma unroll
  for (int n = 0; n < kColumns / 8; ++n) {
    if (n * 8 >= a.dim - first) continue;
    float* const to = a.partial_out + at * a.dim + first + n * 8 + column;
    to[0] = s.out[n][2 * half];
    to[1] = s.out[n][2 * half + 1];
  }
  if (column || part > 0) return;  // both parts have the same terms
  a.partial_terms[2 * at] = s.maximum[half];
  a.partial_terms[2 * at + 1] = s.total[half];
}

template <int kDim>
__device__ __forceinline__ void attend_item(const Paged& a, const PagedItem& item, int kv_head, int part, bf16* shared) {
  // A decode row uses only one warp: a different warp in each block, so that all tensor cores have work.
  const int block = (int(threadIdx.x) / 32 + int(blockIdx.x)) % kWarps * 16, inside = block + int(threadIdx.x) % 32 / 4;
  PagedLane lanes[2];
  const bf16* q_rows[2];
  KeyRange ranges;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int i = inside + 8 * half;
    PagedLane& lane = lanes[half];
    lane = {item.row + i / a.rows.group, kv_head * a.rows.group + i % a.rows.group, i < item.rows * a.rows.group};
    const KeySpan span = lane.valid ? key_span(a.rows, a.plan, item, lane.row) : KeySpan{0, -1};
    ranges.first[half] = span.first, ranges.last[half] = span.last;
    lane.valid = span.first <= span.last;
    q_rows[half] = lane.valid ? a.q + lane.row * a.q_stride + int64_t(lane.head) * a.dim : nullptr;
  }
  uint32_t q[kDim / 16][4];
  load_left<kDim>(q_rows[0], q_rows[1], a.dim, q);
  const WarpSpan warp = warp_span(a, item, block);
  const int64_t head_elements = int64_t(a.page_tokens) * a.dim;
  const PagedKeys keys{a.keys + kv_head * head_elements, a.values + kv_head * head_elements, nullptr, a.page_tokens,
                       a.dim, a.kv_heads * head_elements};
  RowStates<kDim> state;
  walk_tiles<kDim, kThreads>(PagedWalk<kDim>{a, item, warp, lanes, ranges, keys, part, 0, 0, 0, 0}, q,
                             Exp2Scaled{a.scale_log2}, shared, state);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    if (lanes[half].valid) store_paged<kDim>(a, item, lanes[half], half, state, part);
  }
}

/// Merges the states of a row's splits for one head, in ascending order like packed attention. Other blocks
/// wrote them during this launch, so the reads bypass this multiprocessor's L1 cache.
template <int kDim>
__device__ __forceinline__ void merge_head(const Paged& a, int row, int head) {
  const int partial = a.plan.row_partial[row], heads = a.kv_heads * a.rows.group, lane = threadIdx.x % 32;
  const int end = partial + a.rows.last_split(row) - a.rows.first_split(row) + 1;
  const Exp2Scaled exp{a.scale_log2};
  float maximum = -INFINITY, total = 0.0f, out[kDim / 32] = {};
  for (int state = partial; state < end; ++state) {
    const int64_t at = int64_t(state) * heads + head;
    const MergeWeights w = merge_weights(maximum, __ldcg(a.partial_terms + 2 * at), exp);
    maximum = w.maximum;
    total = fmaf(__ldcg(a.partial_terms + 2 * at + 1), w.b, total * w.a);
#pragma unroll
    for (int i = 0; i < kDim / 32; ++i) {
      const int d = i * 32 + lane;
      if (d < a.dim) out[i] = fmaf(__ldcg(a.partial_out + at * a.dim + d), w.b, out[i] * w.a);
    }
  }
  bf16* const to = a.out + row * a.out_stride + int64_t(head) * a.dim;
  const float factor = finish_row(maximum, total, exp, a.sink(head));
#pragma unroll
  for (int i = 0; i < kDim / 32; ++i) {
    const int d = i * 32 + lane;
    if (d < a.dim) to[d] = __float2bfloat16(out[i] * factor);
  }
}

/// Counts the item's split of `row`, or one of its `parts`, as done. Returns true if it was the last one, and then
/// resets the count for the next layer.
template <int kParts>
__device__ __forceinline__ bool completes_row(const Paged& a, const PagedItem& item, int kv_head, int row) {
  const KeySpan span = key_span(a.rows, a.plan, item, row);
  if (a.plan.row_partial[row] < 0 || span.first > span.last) return false;
  int* const done = a.plan.done + row * a.kv_heads + kv_head;
  __threadfence();  // makes the block's states visible before its count
  const bool last = atomicAdd(done, 1) == kParts * (a.rows.last_split(row) - a.rows.first_split(row) + 1) - 1;
  if (last) *done = 0;
  __threadfence();  // reads other blocks' states only after their counts
  return last;
}

/// Merges the rows whose last split was this item's. The order of the states does not depend on which block
/// finishes last.
template <int kDim>
__device__ __forceinline__ void merge_completed(const Paged& a, const PagedItem& item, int kv_head) {
  __shared__ bool complete[kPagedTileRows];
  __syncthreads();  // all of the block's states have been written
  if (int(threadIdx.x) < item.rows) {
    complete[threadIdx.x] = completes_row<Division<kDim>::kParts>(a, item, kv_head, item.row + int(threadIdx.x));
  }
  __syncthreads();
  for (int i = int(threadIdx.x) / 32; i < item.rows * a.rows.group; i += kWarps) {
    if (complete[i / a.rows.group]) merge_head<kDim>(a, item.row + i / a.rows.group, kv_head * a.rows.group + i % a.rows.group);
  }
}

/// Two blocks per multiprocessor are launched (kBlocks); a higher bound would only make registers spill.
template <int kDim>
__global__ void __launch_bounds__(kThreads, 2) attention_paged_kernel(Paged a) {
  HONE_DYNAMIC_SHARED(bf16, shared);
  await_predecessor();
  constexpr int kParts = Division<kDim>::kParts;
  const int per_item = a.kv_heads * kParts, count = *a.plan.count * per_item;
  for (int i = int(blockIdx.x); i < count; i += int(gridDim.x)) {
    const PagedItem item = a.plan.items[i / per_item];
    const int kv_head = i % per_item / kParts;
    attend_item<kDim>(a, item, kv_head, i % kParts, shared);
    if (item.split >= 0) merge_completed<kDim>(a, item, kv_head);
  }
}

template <int kDim>
void launch_paged(const Stream& stream, int64_t items, const Paged& args) {
  const int64_t blocks = std::min<int64_t>(kBlocks, items * Division<kDim>::kParts);
  constexpr size_t shared = walk_shared_bytes<kDim, kThreads>();
  HONE_LAUNCH_EARLY((attention_paged_kernel<kDim>), unsigned(blocks), kThreads, shared, stream, args);
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

/// One block per row; each thread copies 16 bytes at a time.
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

struct PagedSizes {
  int64_t rows, heads, kv_heads, dim;
  PagedLayout layout(int64_t partials) const { return paged_layout(rows, heads, kv_heads, dim, partials); }
};
PagedSizes sizes_of(const AttentionPagedArgs& a) { return {a.q.dim(0), a.q.dim(1), a.pages.kv_heads, a.pages.head_dim}; }

/// Number of states that fit in `bytes`; rounding of offsets may add up to 256 bytes.
int64_t partials_within(int64_t bytes, int64_t wanted, const PagedSizes& s) {
  if (s.layout(wanted).end <= bytes) return wanted;
  const int64_t left = bytes - s.layout(0).end - 256;
  return std::max<int64_t>(0, left / (s.heads * (s.dim + 2) * int64_t(sizeof(float)) + int64_t(sizeof(PagedItem))));
}

PagedRows rows_of(const AttentionPagedArgs& a) {
  const bool shared = !a.prefix_row.empty();
  return {a.row_sequence.as<int32_t>(), a.row_position.as<int32_t>(), shared ? a.prefix_row.as<int32_t>() : nullptr,
          shared ? a.prefix_tokens.as<int32_t>() : nullptr, int(a.q.dim(0)), int(a.q.dim(1) / a.pages.kv_heads), a.window};
}

PagedPlan plan_of(const PagedList& list, const PagedSizes& s) {
  std::byte* const memory = static_cast<std::byte*>(list.memory);
  const PagedLayout at = s.layout(list.states);
  // With few rows, blocks would be idle and all wait for the longest item, so items are shorter.
  const int longest = s.rows * s.kv_heads < kBlocks ? kPagedSplitTiles : 2 * kPagedSplitTiles;
  return {reinterpret_cast<PagedItem*>(memory + at.items), reinterpret_cast<int*>(memory + at.count),
          reinterpret_cast<int*>(memory + at.row_partial), reinterpret_cast<int*>(memory + at.done), int(list.states), longest};
}

}  // namespace

PagedList list_attention_paged(const Stream& stream, const AttentionPagedArgs& a, Arena& memory) {
  const PagedSizes sizes = sizes_of(a);
  const int64_t wanted = paged_partials(sizes.rows, a.block_tables.dim(1) * a.pages.page_tokens);
  PagedList list;
  list.states = partials_within(memory.capacity() - memory.mark(), wanted, sizes);
  list.memory = memory.take(sizes.layout(list.states).end);
  list_paged_items(stream, rows_of(a), plan_of(list, sizes), int(sizes.kv_heads));
  return list;
}

void attention_paged(const Stream& stream, const AttentionPagedArgs& a) {
  const PagedSizes s = sizes_of(a);
  const PagedLayout at = s.layout(a.list.states);
  std::byte* const memory = static_cast<std::byte*>(a.list.memory);
  const Paged args{rows_of(a), plan_of(a.list, s), a.q.as<bf16>(), a.q.row_stride, a.block_tables.as<int32_t>(),
                   a.block_tables.row_stride, a.pages.keys.as<bf16>(), a.pages.values.as<bf16>(),
                   int(a.pages.page_tokens), int(s.kv_heads), int(s.dim), a.scale * kLog2E, a.out.as<bf16>(),
                   a.out.row_stride, reinterpret_cast<float*>(memory + at.out), reinterpret_cast<float*>(memory + at.terms),
                   a.sinks.empty() ? nullptr : a.sinks.as<float>()};
  const int64_t items = paged_items(s.rows, a.list.states) * s.kv_heads;
  if (s.dim <= 64) launch_paged<64>(stream, items, args);
  else if (s.dim <= 128) launch_paged<128>(stream, items, args);
  else launch_paged<256>(stream, items, args);
}

void kv_write(const Stream& stream, const KvWriteArgs& a) {
  const KvWrite args{a.k.as<bf16>(), a.v.as<bf16>(), a.k.row_stride, a.v.row_stride, a.to.row_sequence.as<int32_t>(),
                     a.to.row_position.as<int32_t>(), a.to.block_tables.as<int32_t>(), a.to.block_tables.row_stride,
                     a.to.pages.keys.as<bf16>(), a.to.pages.values.as<bf16>(), int(a.to.pages.page_tokens),
                     int(a.to.pages.kv_heads), int(a.to.pages.head_dim)};
  HONE_LAUNCH(kv_write_kernel, unsigned(a.k.dim(0)), kThreads, 0, stream, args);
}

}  // namespace hone::kernels::cuda
