// Gradient of packed attention on Hopper: the two kernels of attention_grad.cu, with sums in the same order,
// by wgmma. A block has 128 lines: query rows in the kernel for dq, keys in the kernel for dk and dv. One
// warp lets the copy engine (TMA) fill a ring with tiles of the other side; two groups of four warps process
// 64 lines each with these tiles. Lines are the rows of the scores in both kernels (the second multiplies
// keys with queries), so that the weights computed from scores are, in registers, the left operand of the
// next product: only tiles pass through shared memory.
#include "core/cuda/launch.cuh"
#include "kernels/cuda/attention_grad.cuh"
#include "kernels/cuda/attention_hopper.cuh"
#include "kernels/cuda/attention_walk.cuh"
#include "kernels/cuda/tma_map.h"

namespace hone::kernels::cuda {
namespace {

constexpr int kGroups = 2, kGroupLines = 64, kBlockLines = kGroups * kGroupLines;
constexpr int kConsumers = 128 * kGroups, kThreads = kConsumers + 128, kStages = 4;
constexpr int kOwnTiles = 2 * kGroups;  // keys and values of each group, in the kernel for dk and dv

/// Shared memory of a block: a ring of stages, of which stage i is in slot i % kStages. A stage is two tiles
/// (keys and values, or queries and output gradients) and, for queries, their rows' lse and delta.
template <int kDim>
struct Layout {
  static constexpr uint32_t kTile = kTileBytes<kDim>, kStage = 2 * kTile;
  static constexpr int kTerms = 2 * kTileKeys;
  unsigned char *own, *stages;
  float* terms;
  uint64_t *full, *empty;  // one of each per slot
  uint64_t *landed;        // ends when the copies to a stage have arrived, before readers are told
  uint64_t *own_landed;

  static constexpr size_t bytes(int own_tiles) {
    return 1024 + own_tiles * kTile + kStages * (kStage + kTerms * sizeof(float)) +
           (2 * kStages + 2) * sizeof(uint64_t);
  }
  __device__ __forceinline__ Layout(unsigned char* shared, int own_tiles)
      : own(shared + (1024 - shared_address(shared) % 1024) % 1024), stages(own + own_tiles * kTile),
        terms(reinterpret_cast<float*>(stages + kStages * kStage)),
        full(reinterpret_cast<uint64_t*>(terms + kStages * kTerms)), empty(full + kStages), landed(empty + kStages),
        own_landed(landed + 1) {}

  /// Called by all threads of the block.
  __device__ __forceinline__ void make_barriers() const {
    if (threadIdx.x == 0) {
      for (int i = 0; i < kStages; ++i) {
        barrier_init(&full[i], 2);  // one arrival for the copies, one for the copying warp's own writes
        barrier_init(&empty[i], kConsumers / 32);
      }
      barrier_init(landed, 1);
      barrier_init(own_landed, 1);
      show_writes();
    }
    __syncthreads();
  }
  __device__ __forceinline__ unsigned char* own_tile(int i) const { return own + i * kTile; }
  __device__ __forceinline__ unsigned char* tile(int i, int which) const {
    return stages + i % kStages * kStage + which * kTile;
  }
  __device__ __forceinline__ float* lse(int i) const { return terms + i % kStages * kTerms; }
  __device__ __forceinline__ float* delta(int i) const { return lse(i) + kTileKeys; }
  __device__ __forceinline__ void wait_full(int i) const { barrier_wait(&full[i % kStages], i / kStages % 2); }
  __device__ __forceinline__ void wait_empty(int i) const { barrier_wait(&empty[i % kStages], i / kStages % 2 ^ 1); }
  __device__ __forceinline__ void release(int i) const {
    if (threadIdx.x % 32 == 0) barrier_arrive(&empty[i % kStages]);
  }
};

/// On devices without wgmma the kernels' bodies are traps; they are never launched there
/// (attention_uses_wgmma).
#ifdef __CUDA_ARCH_FEAT_SM90_ALL

// ---- which columns lines attend to -------------------------------------------------------------------

/// The columns that a line interacts with (first > last: none): keys of a query row, or rows of a key. Both
/// ends ascend with the line.
struct Sight { int first, last; };

__device__ __forceinline__ Sight keys_of(int row, int window) { return {first_key(row, window), row}; }
__device__ __forceinline__ Sight rows_of(int key, int window, int length) {
  return {key, last_row(key, window, length)};
}

/// Which columns of a 64-column tile a group's 64 lines interact with.
struct GroupSight {
  Sight any, every;  // columns that at least one line interacts with; columns that all lines interact with
  KeyRange lane;     // columns of the lane's own two lines

  template <class SightOf>
  __device__ __forceinline__ GroupSight(int first, int length, int lane_line, const SightOf& of) {
    const Sight low = of(first), high = of(min(first + kGroupLines, length) - 1);
    any = first < length ? Sight{low.first, high.last} : Sight{0, -1};
    every = {high.first, low.last};
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Sight own = of(lane_line + 8 * half);
      lane.first[half] = own.first;
      lane.last[half] = own.last;
    }
  }
  __device__ __forceinline__ bool meets(int base) const {
    return base <= any.last && base + kTileKeys > any.first;
  }
  __device__ __forceinline__ bool covered(int base) const {
    return base >= every.first && base + kTileKeys - 1 <= every.last;
  }
  /// Sets scores of columns base .. base + 63 that a line does not interact with to -inf: p is then 0, and so
  /// is ds, because all slopes are finite.
  __device__ __forceinline__ void mask(int base, float (&p)[8][4]) const {
    if (!covered(base)) mask_scores(base, lane, p);
  }
};

/// Index of the first of the lane's two lines.
__device__ __forceinline__ int lane_line(int first) {
  return first + int(threadIdx.x) / 32 % 4 * 16 + int(threadIdx.x) % 32 / 4;
}

// ---- the warp that copies ------------------------------------------------------------------------------

/// Starts copying rows [row, row + 64) of two matrices to stage i; the first `own` rows belong to the
/// sequence.
template <int kDim>
__device__ __forceinline__ void start_stage(const Layout<kDim>& at, int i, const CUtensorMap& a, const CUtensorMap& b,
                                            int column, int row, int own) {
  at.wait_empty(i);
  if (threadIdx.x % 32 != 0) return;
  uint64_t* const full = &at.full[i % kStages];
  uint64_t* const barrier = own < kTileKeys ? at.landed : full;
  if (barrier != full) barrier_arrive(full);
  barrier_arrive_expecting(barrier, Layout<kDim>::kStage);
  copy_tile<kDim>(at.tile(i, 0), a, column, row, barrier);
  copy_tile<kDim>(at.tile(i, 1), b, column, row, barrier);
}

/// Passes a stage to the readers. If a sequence ends inside the tile, rows of the next sequence follow; if
/// they are not finite, a p or ds of 0 would not cancel them, so they are replaced by zeros. `ended` counts
/// such tiles.
template <int kDim>
__device__ __forceinline__ void finish_stage(const Layout<kDim>& at, int i, int own, int ended) {
  const int lane = int(threadIdx.x) % 32;
  if (own < kTileKeys) {
    barrier_wait(at.landed, ended % 2);
    clear_rows<2 * kDim>(at.tile(i, 0), own);
  }
  __syncwarp();
  if (lane == 0) barrier_arrive(&at.full[i % kStages]);
}

/// Waits until at most kUnderWay products run; the product that writes `x` has then ended.
template <int kUnderWay>
__device__ __forceinline__ void await(float (&x)[8][4]) {
  wgmma_wait<kUnderWay>();
  wgmma_settle(flat(x));
}

// ---- dq ------------------------------------------------------------------------------------------------

/// Processes 64 rows of a head, by one group, over `tiles` tiles of keys and values. The group multiplies the
/// ds of a tile with the tile's keys while it computes the next tile's scores, so it holds a stage one tile
/// longer (and at most one more that no row here attends to). While one group computes, the other one
/// multiplies.
template <int kDim>
__device__ __forceinline__ void walk_keys(const Layout<kDim>& at, const PackedGrad& a, const TileOfSequence& tile,
                                          int head, int first_tile, int tiles) {
  const int first = tile.first_row + group_of_warps() * kGroupLines;
  const GroupSight sight(first, tile.length, lane_line(first), [&](int row) { return keys_of(row, a.window); });
  const float scale = a.scale * kLog2E;
  GradRows<kDim> rows;
  rows.load(a, tile, head, lane_line(first));
  float dq[kDim / 8][4], p[8][4], ds[8][4];
  uint32_t left[4][4];
  clear(dq);
  int held = -1;  // the stage whose keys a running product still reads
  for (int i = 0; i < tiles; ++i) {
    const int base = (first_tile + i) * kTileKeys;
    at.wait_full(i);
    if (!sight.meets(base)) {
      at.release(i);
      continue;
    }
    wgmma_fence();
    start_scores<kDim>(rows.q, at.tile(i, 0), p);
    wgmma_wait<1>();
    if (held >= 0) at.release(held);
    held = i;
    wgmma_fence();
    start_scores<kDim>(rows.dout, at.tile(i, 1), ds);
    await<1>(p);
    sight.mask(base, p);
#pragma unroll
    for (int n = 0; n < 8; ++n)
#pragma unroll
      for (int j = 0; j < 4; ++j) p[n][j] = exp2_normal(fmaf(p[n][j], scale, -rows.terms[j / 2].lse));
    await<0>(ds);
#pragma unroll
    for (int n = 0; n < 8; ++n)
#pragma unroll
      for (int j = 0; j < 4; ++j) ds[n][j] = p[n][j] * (ds[n][j] - rows.terms[j / 2].delta);
    pack_tile(ds, left);
    wgmma_fence();
    start_sums<kDim>(left, at.tile(i, 0), dq);
  }
  wgmma_wait<0>();
  wgmma_settle(flat(dq));
  rows.store(a, tile, head, dq);
}

#endif

/// Blocks with the most keys start first: the last rows of a sequence, with all their heads.
template <int kDim>
__global__ void __launch_bounds__(kThreads, 1)
    attention_grad_queries_sm90_kernel(const __grid_constant__ CUtensorMap k, const __grid_constant__ CUtensorMap v,
                                       PackedGrad a) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  HONE_DYNAMIC_SHARED(unsigned char, shared);
  const int slot = int((gridDim.x - 1 - blockIdx.x) / a.heads), head = int(blockIdx.x % a.heads);
  const TileOfSequence tile = find_tile(a.cu_seqlens, a.sequences, kBlockLines, slot);
  if (tile.first_row >= tile.length) return;
  const Layout<kDim> at(shared, 0);
  if (threadIdx.x == 0) prefetch_map(k), prefetch_map(v);
  at.make_barriers();
  const int first_tile = first_key(tile.first_row, a.window) / kTileKeys;
  const int tiles = (min(tile.first_row + kBlockLines, tile.length) - 1) / kTileKeys + 1 - first_tile;
  if (threadIdx.x >= kConsumers) {
    give_registers_back<24>();
    if (threadIdx.x >= kConsumers + 32) return;
    for (int i = 0; i < tiles; ++i) {
      const int key = (first_tile + i) * kTileKeys, own = tile.length - key;
      start_stage(at, i, k, v, head / a.group * kDim, int(tile.start) + key, own);
      finish_stage(at, i, own, 0);
    }
  } else {
    take_registers<240>();
    walk_keys(at, a, tile, head, first_tile, tiles);
  }
#else
  __trap();  // machine code for another device: fails instead of computing nothing
#endif
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

// ---- dk, dv --------------------------------------------------------------------------------------------

/// Run by the copying warp: copies the block's keys and values, then, for each head, the tiles of rows.
template <int kDim>
__device__ __forceinline__ void fill_queries(const Layout<kDim>& at, const PackedGrad& a, const TileOfSequence& tile,
                                             int kv_head, int tiles, const CUtensorMap& q, const CUtensorMap& k,
                                             const CUtensorMap& v, const CUtensorMap& dout) {
  const int lane = int(threadIdx.x) % 32;
  if (lane == 0) {
    barrier_arrive_expecting(at.own_landed, kOwnTiles * kTileBytes<kDim>);
    for (int group = 0; group < kGroups; ++group) {
      const int row = int(tile.start) + tile.first_row + group * kGroupLines;
      copy_tile<kDim>(at.own_tile(2 * group), k, kv_head * kDim, row, at.own_landed);
      copy_tile<kDim>(at.own_tile(2 * group + 1), v, kv_head * kDim, row, at.own_landed);
    }
  }
  for (int in_group = 0, i = 0; in_group < a.group; ++in_group) {
    const int head = kv_head * a.group + in_group;
    for (int row = tile.first_row; row < tile.first_row + tiles * kTileKeys; row += kTileKeys, ++i) {
      const int own = tile.length - row;
      start_stage(at, i, q, dout, head * kDim, int(tile.start) + row, own);
      for (int line = lane; line < kTileKeys; line += 32) {
        RowTerms terms;
        if (line < own) terms = row_terms(a, tile.start + row + line, head);
        at.lse(i)[line] = terms.lse;
        at.delta(i)[line] = terms.delta;
      }
      finish_stage(at, i, own, in_group);
    }
  }
}

/// Processes 64 keys, by one group, over the tiles of rows, as walk_keys does for rows. p is converted to an
/// operand only when ds is complete too: while a product runs, ptxas does not allow writes to the registers
/// of a later product.
template <int kDim>
__device__ __forceinline__ void walk_queries(const Layout<kDim>& at, const PackedGrad& a, const TileOfSequence& tile,
                                             int kv_head, int tiles) {
  const int group = group_of_warps(), first = tile.first_row + group * kGroupLines;
  const GroupSight sight(first, tile.length, lane_line(first),
                         [&](int key) { return rows_of(key, a.window, tile.length); });
  const float scale = a.scale * kLog2E;
  const int column = int(threadIdx.x) % 4 * 2;
  float dk[kDim / 8][4], dv[kDim / 8][4], p[8][4], ds[8][4];
  uint32_t left_p[4][4], left_ds[4][4];
  clear(dk);
  clear(dv);
  barrier_wait(at.own_landed, 0);
  int held = -1;
  for (int i = 0; i < tiles * a.group; ++i) {
    const int base = tile.first_row + i % tiles * kTileKeys;
    at.wait_full(i);
    if (!sight.meets(base)) {
      at.release(i);
      continue;
    }
    wgmma_fence();
    start_scores<kDim>(at.own_tile(2 * group), at.tile(i, 0), p);
    wgmma_wait<1>();
    if (held >= 0) at.release(held);
    held = i;
    wgmma_fence();
    start_scores<kDim>(at.own_tile(2 * group + 1), at.tile(i, 1), ds);
    await<1>(p);
    sight.mask(base, p);
#pragma unroll
    for (int n = 0; n < 8; ++n) {
      const float2 lse = *reinterpret_cast<const float2*>(at.lse(i) + n * 8 + column);
#pragma unroll
      for (int j = 0; j < 4; ++j) p[n][j] = exp2_normal(fmaf(p[n][j], scale, -(j % 2 ? lse.y : lse.x)));
    }
    await<0>(ds);
#pragma unroll
    for (int n = 0; n < 8; ++n) {
      const float2 delta = *reinterpret_cast<const float2*>(at.delta(i) + n * 8 + column);
#pragma unroll
      for (int j = 0; j < 4; ++j) ds[n][j] = p[n][j] * (ds[n][j] - (j % 2 ? delta.y : delta.x));
    }
    pack_tile(p, left_p);
    pack_tile(ds, left_ds);
    wgmma_fence();
    start_sums<kDim>(left_p, at.tile(i, 1), dv);
    start_sums<kDim>(left_ds, at.tile(i, 0), dk);
  }
  wgmma_wait<0>();
  wgmma_settle(flat(dk));
  wgmma_settle(flat(dv));
  store_keys<kDim>(a, tile, kv_head, lane_line(first), dk, dv);
}

#endif

/// Blocks with the most rows start first: those of the first keys of a sequence.
template <int kDim>
__global__ void __launch_bounds__(kThreads, 1)
    attention_grad_keys_sm90_kernel(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
                                    const __grid_constant__ CUtensorMap v, const __grid_constant__ CUtensorMap dout,
                                    PackedGrad a) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  HONE_DYNAMIC_SHARED(unsigned char, shared);
  const int kv_heads = a.heads / a.group, kv_head = int(blockIdx.x % kv_heads);
  const TileOfSequence tile = find_tile(a.cu_seqlens, a.sequences, kBlockLines, int(blockIdx.x / kv_heads));
  if (tile.first_row >= tile.length) return;
  const Layout<kDim> at(shared, kOwnTiles);
  if (threadIdx.x == 0) prefetch_map(q), prefetch_map(k), prefetch_map(v), prefetch_map(dout);
  at.make_barriers();
  const int last_key = min(tile.first_row + kBlockLines, tile.length) - 1;
  const int tiles = (last_row(last_key, a.window, tile.length) - tile.first_row) / kTileKeys + 1;
  if (threadIdx.x >= kConsumers) {
    give_registers_back<24>();
    if (threadIdx.x < kConsumers + 32) fill_queries(at, a, tile, kv_head, tiles, q, k, v, dout);
  } else {
    take_registers<240>();
    walk_queries(at, a, tile, kv_head, tiles);
  }
#else
  __trap();  // machine code for another device: fails instead of computing nothing
#endif
}

template <int kDim>
void launch_grad(const Stream& stream, int64_t tokens, const PackedGrad& a) {
  const int64_t slots = tile_slots(tokens, a.sequences, kBlockLines), kv_heads = a.heads / a.group;
  const auto map = [tokens](const bf16* rows, int64_t heads, int64_t stride, const char* name) {
    return tensor_map(rows, tokens, heads * kDim, stride, kTileKeys, name);
  };
  const CUtensorMap q = map(a.q, a.heads, a.q_stride, "q"), dout = map(a.dout, a.heads, a.dout_stride, "dout");
  const CUtensorMap k = map(a.k, kv_heads, a.k_stride, "k"), v = map(a.v, kv_heads, a.v_stride, "v");
  HONE_LAUNCH((attention_grad_queries_sm90_kernel<kDim>), unsigned(slots * a.heads), kThreads, Layout<kDim>::bytes(0),
              stream, k, v, a);
  HONE_LAUNCH((attention_grad_keys_sm90_kernel<kDim>), unsigned(slots * kv_heads), kThreads,
              Layout<kDim>::bytes(kOwnTiles), stream, q, k, v, dout, a);
}

}  // namespace

void attention_packed_grad_sm90(const Stream& stream, int64_t tokens, const PackedGrad& a) {
  if (a.dim == 64) launch_grad<64>(stream, tokens, a);
  else launch_grad<128>(stream, tokens, a);
}

}  // namespace hone::kernels::cuda
