// Gradient of packed attention for heads wider than 128, in the two passes of attention_grad.cu. Registers hold
// the sums only; all operands are tiles in shared memory, which 64 rows of two matrices and two stages of 16
// rows fit on every GPU (96 KB).
#include "kernels/cuda/attention.h"

#include "core/cuda/launch.cuh"
#include "kernels/cuda/attention_grad.cuh"

namespace hone::kernels::cuda {
namespace {

constexpr int kWarps = 4, kThreads = kWarps * 32, kTileRows = kWarps * 16, kStageRows = 16, kDim = 256;
static_assert(kTileRows == kTileKeys);
constexpr int kTile = kTileRows * kDim, kStageTile = kStageRows * kDim;

/// What a warp computes of 16 of the block's rows with the 16 rows of a stage.
struct Terms {
  float p[2][4], ds[2][4];
};

__device__ __forceinline__ int warp_row() { return int(threadIdx.x) / 32 * 16; }

/// dout . out of a row, over the row's four lanes.
__device__ __forceinline__ float dot_of(const bf16* out, const bf16* dout, int dim) {
  float sum = 0.0f;
  for (int column = int(threadIdx.x) % 4 * 2; column < dim; column += 8) {
    const uint32_t x = *reinterpret_cast<const uint32_t*>(out + column), y = *reinterpret_cast<const uint32_t*>(dout + column);
    sum = fmaf(low_of(x), low_of(y), sum);
    sum = fmaf(high_of(x), high_of(y), sum);
  }
  return sum;
}

// ---- dq ------------------------------------------------------------------------------------------------

/// The two rows of one head that a lane holds. position -1: beyond the sequence's end.
struct WideRows {
  int position[2];
  RowTerms terms[2];

  /// Finds rows `row` and `row` + 8 of the tile's sequence, and writes their delta.
  __device__ __forceinline__ void load(const PackedGrad& a, const TileOfSequence& tile, int head, int row) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const bool valid = row + 8 * half < tile.length;
      const int64_t token = tile.start + row + 8 * half, column = int64_t(head) * a.dim;
      position[half] = valid ? row + 8 * half : -1;
      const float sum = valid ? dot_of(a.out + token * a.out_stride + column, a.dout + token * a.dout_stride + column, a.dim) : 0.0f;
      terms[half].delta = quad_sum(sum);
      if (!valid) continue;
      terms[half].lse = a.lse[token * a.lse_stride + head] * kLog2E;
      if (threadIdx.x % 4 == 0) a.delta[token * a.heads + head] = terms[half].delta;
    }
  }
};

/// Adds to dq of a warp's rows, which are rows of the tiles `queries` and `douts`, the contribution of 16 keys.
__device__ __forceinline__ void add_keys(const PackedGrad& a, const WideRows& rows, const bf16* queries, const bf16* douts,
                                         const bf16* keys, const bf16* values, int base, float (&dq)[kDim / 8][4]) {
  Terms t;
  clear(t.p);
  clear(t.ds);
  multiply_columns<kDim>(queries, warp_row(), keys, 0, t.p);
  multiply_columns<kDim>(douts, warp_row(), values, 0, t.ds);
  const int column = base + int(threadIdx.x) % 4 * 2;
#pragma unroll
  for (int n = 0; n < 2; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int key = column + n * 8 + i % 2, at = rows.position[i / 2];
      const bool visible = key <= at && key >= first_key(at, a.window);
      score_gradient(a.scale * kLog2E, rows.terms[i / 2], visible, t.p[n][i], t.ds[n][i]);
    }
  multiply_rows<kDim>(t.ds, keys, 0, dq);
}

__global__ void __launch_bounds__(kThreads) attention_grad_queries_wide_kernel(PackedGrad a) {
  HONE_DYNAMIC_SHARED(bf16, shared);
  const TileOfSequence tile = find_tile(a.cu_seqlens, a.sequences, kTileRows, int(gridDim.x - 1 - blockIdx.x));
  if (tile.first_row >= tile.length) return;
  const int head = blockIdx.y, high = min(tile.first_row + kTileRows, tile.length) - 1;
  const int64_t column = int64_t(head) * a.dim, kv_column = int64_t(head / a.group) * a.dim;
  const PackedRows queries{a.q + tile.start * a.q_stride + column, a.dout + tile.start * a.dout_stride + column, a.q_stride, a.dout_stride};
  const PackedRows keys{a.k + tile.start * a.k_stride + kv_column, a.v + tile.start * a.v_stride + kv_column, a.k_stride, a.v_stride};
  const int low = first_key(tile.first_row, a.window), last = high / kStageRows;
  const auto stage = [shared](int t) { return shared + 2 * kTile + (t & 1) * 2 * kStageTile; };
  const auto load = [&](int t) {
    load_tile<kDim, kThreads, kStageRows>(keys, t * kStageRows, low, high, a.dim, stage(t), stage(t) + kStageTile);
  };
  load_tile<kDim, kThreads>(queries, tile.first_row, tile.first_row, high, a.dim, shared, shared + kTile);
  load(low / kStageRows);
  WideRows rows;
  rows.load(a, tile, head, tile.first_row + warp_row() + int(threadIdx.x) % 32 / 4);
  float dq[kDim / 8][4];
  clear(dq);
  for (int t = low / kStageRows; t <= last; ++t) {
    cp_async_wait<0>();
    __syncthreads();  // the stage has arrived, and no thread still reads the other one
    if (t < last) load(t + 1);
    add_keys(a, rows, shared, shared + kTile, stage(t), stage(t) + kStageTile, t * kStageRows, dq);
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    if (rows.position[half] < 0) continue;
    store_row<kDim>(dq, half, a.scale, a.dim, a.dq + (tile.start + rows.position[half]) * a.dq_stride + column);
  }
}

// ---- dk, dv --------------------------------------------------------------------------------------------

/// A stage: 16 queries, their output gradients, and their terms.
constexpr int kStage = 2 * kStageTile + kStageRows * int(sizeof(RowTerms) / sizeof(bf16));
/// dk and dv are computed for one half of their columns per block.
constexpr int kParts = 2, kColumns = kDim / kParts;

__device__ __forceinline__ void load_stage(const PackedGrad& a, const TileOfSequence& tile, int head, int base, int high, bf16* stage) {
  const int64_t column = int64_t(head) * a.dim;
  const PackedRows rows{a.q + tile.start * a.q_stride + column, a.dout + tile.start * a.dout_stride + column, a.q_stride, a.dout_stride};
  load_tile<kDim, kThreads, kStageRows>(rows, base, base, high, a.dim, stage, stage + kStageTile);
  if (threadIdx.x >= kStageRows) return;
  const int row = base + int(threadIdx.x);
  RowTerms terms;
  if (row <= high) terms = row_terms(a, tile.start + row, head);
  reinterpret_cast<RowTerms*>(stage + 2 * kStageTile)[threadIdx.x] = terms;
}

/// Adds to dk and dv of a warp's keys, which are rows of the tiles `keys` and `values`, the contribution of the
/// stage's rows, whose first is `base`; in the columns from `first` on. All products are transposed.
__device__ __forceinline__ void add_rows(const PackedGrad& a, const bf16* keys, const bf16* values, const bf16* stage, int base, int high,
                                         int key, int first, float (&dk)[kColumns / 8][4], float (&dv)[kColumns / 8][4]) {
  const bf16 *const queries = stage, *const douts = stage + kStageTile;
  const RowTerms* const rows = reinterpret_cast<const RowTerms*>(stage + 2 * kStageTile);
  Terms t;
  clear(t.p);
  clear(t.ds);
  multiply_columns<kDim>(keys, warp_row(), queries, 0, t.p);
  multiply_columns<kDim>(values, warp_row(), douts, 0, t.ds);
  const int column = int(threadIdx.x) % 4 * 2;
#pragma unroll
  for (int n = 0; n < 2; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int inside = n * 8 + column + i % 2, row = base + inside, at = key + i / 2 * 8;
      const bool visible = row <= high && at <= row && at >= first_key(row, a.window);
      score_gradient(a.scale * kLog2E, rows[inside], visible, t.p[n][i], t.ds[n][i]);
    }
  multiply_rows<kDim>(t.p, douts + first, 0, dv);
  multiply_rows<kDim>(t.ds, queries + first, 0, dk);
}

/// Computes a half of the columns of dk and dv, for 64 keys of a key head, from the rows that attend to them,
/// ascending in head, then row.
__global__ void __launch_bounds__(kThreads) attention_grad_keys_wide_kernel(PackedGrad a) {
  HONE_DYNAMIC_SHARED(bf16, shared);
  const TileOfSequence tile = find_tile(a.cu_seqlens, a.sequences, kTileKeys, int(blockIdx.x));
  if (tile.first_row >= tile.length) return;
  const int kv_head = blockIdx.y / kParts, first = int(blockIdx.y) % kParts * kColumns;
  const int last_key = min(tile.first_row + kTileKeys, tile.length) - 1, high = last_row(last_key, a.window, tile.length);
  const int per_head = (high - tile.first_row) / kStageRows + 1, steps = per_head * a.group;
  const int64_t column = int64_t(kv_head) * a.dim;
  const PackedRows keys{a.k + tile.start * a.k_stride + column, a.v + tile.start * a.v_stride + column, a.k_stride, a.v_stride};
  const auto stage = [shared](int step) { return shared + 2 * kTile + (step & 1) * kStage; };
  const auto base = [&](int step) { return tile.first_row + step % per_head * kStageRows; };
  const auto load = [&](int step) { load_stage(a, tile, kv_head * a.group + step / per_head, base(step), high, stage(step)); };
  load_tile<kDim, kThreads>(keys, tile.first_row, tile.first_row, last_key, a.dim, shared, shared + kTile);
  load(0);
  const int key = tile.first_row + warp_row() + int(threadIdx.x) % 32 / 4;
  float dk[kColumns / 8][4], dv[kColumns / 8][4];
  clear(dk);
  clear(dv);
  for (int step = 0; step < steps; ++step) {
    cp_async_wait<0>();
    __syncthreads();  // the stage has arrived, and no thread still reads the other one
    if (step + 1 < steps) load(step + 1);
    add_rows(a, shared, shared + kTile, stage(step), base(step), high, key, first, dk, dv);
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int64_t token = tile.start + key + 8 * half;
    if (key + 8 * half >= tile.length) continue;
    store_row<kColumns>(dk, half, a.scale, a.dim - first, a.dk + token * a.dk_stride + column + first);
    store_row<kColumns>(dv, half, 1.0f, a.dim - first, a.dv + token * a.dv_stride + column + first);
  }
}

}  // namespace

void attention_packed_grad_wide(const Stream& stream, int64_t slots, int64_t kv_heads, const PackedGrad& args) {
  constexpr size_t for_queries = (2 * kTile + 4 * kStageTile) * sizeof(bf16), for_keys = (2 * kTile + 2 * kStage) * sizeof(bf16);
  const dim3 queries{unsigned(slots), unsigned(args.heads)}, keys{unsigned(slots), unsigned(kv_heads * kParts)};
  HONE_LAUNCH(attention_grad_queries_wide_kernel, queries, kThreads, for_queries, stream, args);
  HONE_LAUNCH(attention_grad_keys_wide_kernel, keys, kThreads, for_keys, stream, args);
}

}  // namespace hone::kernels::cuda
