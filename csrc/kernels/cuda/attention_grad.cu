// Gradient of packed attention without atomics: one kernel over query tiles computes dq, another over key
// tiles dk and dv. Both recompute the probabilities from the forward's lse. This takes seven products instead
// of five, and gives determinism without a buffer of f32 sums.
#include "kernels/cuda/attention.h"

#include "core/cuda/launch.cuh"
#include "kernels/cuda/attention_grad.cuh"
#include "kernels/cuda/matmul.h"

namespace hone::kernels::cuda {
namespace {

constexpr int kWarps = 4, kThreads = kWarps * 32, kTileRows = kWarps * 16;
static_assert(kTileRows == kTileKeys);

// ---- dq ------------------------------------------------------------------------------------------------

/// Adds to dq of 64 rows of a head the contribution of one tile of keys, as many keys at a time as registers
/// allow.
template <int kDim>
__device__ __forceinline__ void grad_queries_tile(const PackedGrad& a, const GradRows<kDim>& rows, const bf16* keys,
                                                  const bf16* values, int base, float (&dq)[kDim / 8][4]) {
  constexpr int kBlocks = kDim > 64 ? 2 : 4;
  const int column = base + threadIdx.x % 4 * 2;
#pragma unroll 1
  for (int part = 0; part < kTileKeys; part += kBlocks * 8) {
    float p[kBlocks][4], ds[kBlocks][4];
    clear(p);
    clear(ds);
    multiply_columns<kDim>(rows.q, keys, part, p);
    multiply_columns<kDim>(rows.dout, values, part, ds);
#pragma unroll
    for (int n = 0; n < kBlocks; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int key = column + part + n * 8 + i % 2, at = rows.position[i / 2];
        const bool visible = key <= at && key >= first_key(at, a.window);
        score_gradient(a.scale * kLog2E, rows.terms[i / 2], visible, p[n][i], ds[n][i]);
      }
    multiply_rows<kDim>(ds, keys, part, dq);
  }
}

template <int kDim>
__global__ void __launch_bounds__(kThreads) attention_grad_queries_kernel(PackedGrad a) {
  HONE_DYNAMIC_SHARED(bf16, shared);
  constexpr int kTile = kTileKeys * kDim;
  const TileOfSequence tile = find_tile(a.cu_seqlens, a.sequences, kTileRows, int(gridDim.x - 1 - blockIdx.x));
  if (tile.first_row >= tile.length) return;
  const int head = blockIdx.y, high = min(tile.first_row + kTileRows, tile.length) - 1;
  const int64_t kv_column = int64_t(head / a.group) * a.dim;
  const PackedRows keys{a.k + tile.start * a.k_stride + kv_column, a.v + tile.start * a.v_stride + kv_column,
                        a.k_stride, a.v_stride};
  const int low = first_key(tile.first_row, a.window), last_tile = high / kTileKeys;
  load_tile<kDim, kThreads>(keys, low / kTileKeys * kTileKeys, low, high, a.dim, shared, shared + kTile);

  GradRows<kDim> rows;
  rows.load(a, tile, head, tile.first_row + int(threadIdx.x) / 32 * 16 + int(threadIdx.x) % 32 / 4);
  float dq[kDim / 8][4];
  clear(dq);
  for (int t = low / kTileKeys, stage = 0; t <= last_tile; ++t, stage = 1 - stage) {
    bf16* const here = shared + stage * 2 * kTile;
    bf16* const next = shared + (1 - stage) * 2 * kTile;
    cp_async_wait<0>();
    __syncthreads();  // the tile has arrived, and no thread still reads the other pair of tiles
    if (t < last_tile) load_tile<kDim, kThreads>(keys, (t + 1) * kTileKeys, low, high, a.dim, next, next + kTile);
    grad_queries_tile<kDim>(a, rows, here, here + kTile, t * kTileKeys, dq);
  }
  rows.store(a, tile, head, dq);
}

// ---- dk, dv --------------------------------------------------------------------------------------------

/// Adds to dk and dv of a warp's 16 keys, whose values are in a tile, the contribution of one tile of
/// queries, 16 rows at a time. All products are transposed.
template <int kDim>
__device__ __forceinline__ void grad_keys_tile(const PackedGrad& a, const uint32_t (&k)[kDim / 16][4],
                                               const bf16* values, const bf16* queries, const bf16* douts,
                                               const RowTerms* rows, int base, int high, int key,
                                               float (&dk)[kDim / 8][4], float (&dv)[kDim / 8][4]) {
  const int column = threadIdx.x % 4 * 2;
#pragma unroll 1
  for (int part = 0; part < kTileRows; part += 16) {
    float p[2][4], ds[2][4];
    clear(p);
    clear(ds);
    multiply_columns<kDim>(k, queries, part, p);
    multiply_columns<kDim>(values, int(threadIdx.x) / 32 * 16, douts, part, ds);
#pragma unroll
    for (int n = 0; n < 2; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int inside = part + n * 8 + column + i % 2, row = base + inside, at = key + i / 2 * 8;
        const bool visible = row <= high && at <= row && at >= first_key(row, a.window);
        score_gradient(a.scale * kLog2E, rows[inside], visible, p[n][i], ds[n][i]);
      }
    multiply_rows<kDim>(p, douts, part, dv);
    multiply_rows<kDim>(ds, queries, part, dk);
  }
}

/// Size of a stage's buffer in the kernel for dk and dv, in bf16 elements: a tile of queries, a tile of dout, and
/// lse and delta of the rows of these tiles.
template <int kDim>
inline constexpr int kStageElements = 2 * kTileRows * kDim + kTileRows * int(sizeof(RowTerms) / sizeof(bf16));

template <int kDim>
__device__ __forceinline__ void load_queries(const PackedGrad& a, const TileOfSequence& tile, int head, int base,
                                             int high, bf16* stage) {
  const int64_t column = int64_t(head) * a.dim;
  const PackedRows rows{a.q + tile.start * a.q_stride + column, a.dout + tile.start * a.dout_stride + column,
                        a.q_stride, a.dout_stride};
  load_tile<kDim, kThreads>(rows, base, base, high, a.dim, stage, stage + kTileRows * kDim);
  const int row = base + int(threadIdx.x);
  if (threadIdx.x >= kTileRows) return;
  RowTerms terms;
  if (row <= high) terms = row_terms(a, tile.start + row, head);
  reinterpret_cast<RowTerms*>(stage + 2 * kTileRows * kDim)[threadIdx.x] = terms;
}

/// Computes dk and dv of 64 keys of a key head from the rows that attend to them, ascending in head, then
/// row.
template <int kDim>
__global__ void __launch_bounds__(kThreads) attention_grad_keys_kernel(PackedGrad a) {
  HONE_DYNAMIC_SHARED(bf16, shared);
  constexpr int kTile = kTileKeys * kDim;
  const TileOfSequence tile = find_tile(a.cu_seqlens, a.sequences, kTileKeys, int(blockIdx.x));
  if (tile.first_row >= tile.length) return;
  const int kv_head = blockIdx.y, last_key = min(tile.first_row + kTileKeys, tile.length) - 1;
  const int high = last_row(last_key, a.window, tile.length);
  const int tiles = (high - tile.first_row) / kTileRows + 1, steps = tiles * a.group;
  const auto stage = [shared](int step) { return shared + kTile + (step & 1) * kStageElements<kDim>; };
  const int64_t column = int64_t(kv_head) * a.dim;
  const PackedRows keys{a.k + tile.start * a.k_stride + column, a.v + tile.start * a.v_stride + column, a.k_stride,
                        a.v_stride};
  // The keys pass through a stage that is not in use yet, and then stay in registers; the values stay in
  // shared memory.
  load_tile<kDim, kThreads>(keys, tile.first_row, tile.first_row, last_key, a.dim, stage(1), shared);
  load_queries<kDim>(a, tile, kv_head * a.group, tile.first_row, high, stage(0));
  const int key = tile.first_row + int(threadIdx.x) / 32 * 16 + int(threadIdx.x) % 32 / 4;
  uint32_t k[kDim / 16][4];
  cp_async_wait<1>();
  __syncthreads();
#pragma unroll
  for (int kk = 0; kk < kDim / 16; ++kk) load_left<kDim>(stage(1), int(threadIdx.x) / 32 * 16, kk, k[kk]);

  float dk[kDim / 8][4], dv[kDim / 8][4];
  clear(dk);
  clear(dv);
  for (int step = 0; step < steps; ++step) {
    const bf16* const here = stage(step);
    cp_async_wait<0>();
    __syncthreads();  // the stage has arrived, and no thread still reads the previous one
    if (step + 1 < steps) {
      load_queries<kDim>(a, tile, kv_head * a.group + (step + 1) / tiles,
                         tile.first_row + (step + 1) % tiles * kTileRows, high, stage(step + 1));
    }
    grad_keys_tile<kDim>(a, k, shared, here, here + kTileRows * kDim,
                         reinterpret_cast<const RowTerms*>(here + 2 * kTileRows * kDim),
                         tile.first_row + step % tiles * kTileRows, high, key, dk, dv);
  }
  store_keys<kDim>(a, tile, kv_head, key, dk, dv);
}

template <int kDim>
void launch_grad(const Stream& stream, int64_t slots, int64_t kv_heads, const PackedGrad& args) {
  constexpr size_t for_queries = 4 * kTileKeys * kDim * sizeof(bf16);
  constexpr size_t for_keys = (kTileKeys * kDim + 2 * kStageElements<kDim>)*sizeof(bf16);
  const dim3 queries{unsigned(slots), unsigned(args.heads)}, keys{unsigned(slots), unsigned(kv_heads)};
  HONE_LAUNCH((attention_grad_queries_kernel<kDim>), queries, kThreads, for_queries, stream, args);
  HONE_LAUNCH((attention_grad_keys_kernel<kDim>), keys, kThreads, for_keys, stream, args);
}

}  // namespace

void attention_packed_grad(const Stream& stream, const AttentionPackedGradArgs& a) {
  const int64_t tokens = a.q.dim(0), heads = a.q.dim(1), dim = a.q.dim(2), sequences = a.cu_seqlens.dim(0) - 1;
  const int64_t mark = a.scratch->mark();
  const PackedGrad args{
      a.q.as<bf16>(), a.k.as<bf16>(), a.v.as<bf16>(), a.out.as<bf16>(), a.dout.as<bf16>(), a.q.row_stride,
      a.k.row_stride, a.v.row_stride, a.out.row_stride, a.dout.row_stride, a.lse.as<float>(), a.lse.row_stride,
      a.cu_seqlens.as<int32_t>(), int(sequences), int(heads), int(heads / a.k.dim(1)), int(dim), a.window, a.scale,
      a.scratch->take_array<float>(tokens * heads), a.dq.as<bf16>(), a.dk.as<bf16>(), a.dv.as<bf16>(),
      a.dq.row_stride, a.dk.row_stride, a.dv.row_stride};
  a.scratch->release(mark);
  if constexpr (::hone::cuda::kSm90Built) {
    if (attention_uses_wgmma(dim, a.deterministic)) return attention_packed_grad_sm90(stream, tokens, args);
  }
  const int64_t slots = tile_slots(tokens, sequences, kTileRows);
  if (dim <= 64) launch_grad<64>(stream, slots, a.k.dim(1), args);
  else if (dim <= 128) launch_grad<128>(stream, slots, a.k.dim(1), args);
  else attention_packed_grad_wide(stream, slots, a.k.dim(1), args);
}

}  // namespace hone::kernels::cuda
