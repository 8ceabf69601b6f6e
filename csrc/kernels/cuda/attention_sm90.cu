// Packed forward attention on Hopper: one warp lets the copy engine (TMA) fill two rings of tiles, keys and
// values; two groups of four warps process 64 query rows each (wgmma). While the weights of one tile are
// multiplied with its values, the scores of the next tile are computed and become weights; the groups issue
// products in turns, so that one computes weights while the other multiplies. Tiles, softmax and splits are
// those of attention_walk.cuh, in the same order.
#include "core/cuda/launch.cuh"
#include "kernels/cuda/attention_hopper.cuh"
#include "kernels/cuda/attention_packed.cuh"
#include "kernels/cuda/tma_map.h"

namespace hone::kernels::cuda {
namespace {

constexpr int kGroups = 2, kGroupRows = 64, kTileRows = kGroups * kGroupRows;
constexpr int kConsumers = 128 * kGroups, kThreads = kConsumers + 128, kStages = 4;

/// A ring of kStages tiles of 64 rows in shared memory: requested tile i is in slot i % kStages. One thread
/// fills tiles; every warp that reads a tile releases it.
template <int kDim>
struct TileRing {
  unsigned char* stages;
  uint64_t *full, *empty;

  __device__ __forceinline__ unsigned char* tile(int i) const { return stages + i % kStages * kTileBytes<kDim>; }
  __device__ __forceinline__ void wait_full(int i) const { barrier_wait(&full[i % kStages], i / kStages % 2); }
  __device__ __forceinline__ void wait_empty(int i) const { barrier_wait(&empty[i % kStages], i / kStages % 2 ^ 1); }
  __device__ __forceinline__ void release(int i) const {
    if (threadIdx.x % 32 == 0) barrier_arrive(&empty[i % kStages]);
  }
  __device__ __forceinline__ void make_barriers(unsigned readers) const {
    for (int i = 0; i < kStages; ++i) {
      barrier_init(&full[i], 1);
      barrier_init(&empty[i], readers);
    }
  }
};

/// Shared memory of a block.
template <int kDim>
struct Layout {
  TileRing<kDim> keys, values;
  float* saved;      // SavedStates
  uint64_t* turns;   // one barrier per group
  uint64_t* landed;  // ends when the last tile of values has arrived

  static constexpr size_t kBytes = 1024 + 2 * kStages * kTileBytes<kDim> +
                                   SavedStates<kDim, kConsumers>::kFloats * sizeof(float) +
                                   (4 * kStages + kGroups + 1) * sizeof(uint64_t);

  __device__ __forceinline__ explicit Layout(unsigned char* shared) {
    keys.stages = shared + (1024 - shared_address(shared) % 1024) % 1024;
    values.stages = keys.stages + kStages * kTileBytes<kDim>;
    saved = reinterpret_cast<float*>(values.stages + kStages * kTileBytes<kDim>);
    keys.full = reinterpret_cast<uint64_t*>(saved + SavedStates<kDim, kConsumers>::kFloats);
    keys.empty = keys.full + kStages;
    values.full = keys.empty + kStages;
    values.empty = values.full + kStages;
    turns = values.empty + kStages;
    landed = turns + kGroups;
  }
};

/// On devices without wgmma the kernel's body is a trap; it is never launched there (attention_uses_wgmma).
#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// Turns in which the two groups issue products. The second group has as many turns as the first, or one
/// more; it does not wait for the additional one, since the first group has then ended and cannot pass the
/// turn.
struct Turns {
  uint64_t *mine, *other;
  int left;         // number of turns to wait for; 0 if the block has only one group
  unsigned parity;  // parity of the next turn's phase

  /// The first group begins, because a new barrier counts as having ended the phase of parity 1.
  __device__ __forceinline__ Turns(uint64_t* barriers, int group, int in_turns)
      : mine(barriers + group), other(barriers + (1 - group)), left(in_turns), parity(unsigned(1 - group)) {}
  __device__ __forceinline__ void wait() {
    if (left-- > 0) barrier_wait(mine, parity);
    parity ^= 1;
  }
  __device__ __forceinline__ void pass() const {
    if (threadIdx.x % 32 == 0) barrier_arrive(other);
  }
};

/// The work of a block: rows of one head, and their tiles [first, last] of keys.
struct BlockWalk {
  TileOfSequence rows;
  int head, kv_head, first, last;

  __device__ __forceinline__ explicit BlockWalk(const PackedForward& a)
      : rows(tile_of_block(a, kTileRows)), head(int(blockIdx.y)), kv_head(head / a.group),
        first(first_key(rows.first_row, a.window) / kTileKeys),
        last((min(rows.first_row + kTileRows, rows.length) - 1) / kTileKeys) {}
  __device__ __forceinline__ int groups() const { return rows.first_row + kGroupRows < rows.length ? 2 : 1; }
  /// Number of turns of the first group. In each turn it issues the products for a tile's scores and for the
  /// previous tile's values.
  __device__ __forceinline__ int turns() const { return rows.first_row / kTileKeys - first + 2; }
  /// Number of rows in the last tile that belong to the sequence.
  __device__ __forceinline__ int last_rows() const { return min(rows.length - last * kTileKeys, kTileKeys); }
};

template <int kDim>
__device__ __forceinline__ void fill_stage(const TileRing<kDim>& ring, int i, const CUtensorMap& map,
                                           const BlockWalk& w, uint64_t* barrier) {
  ring.wait_empty(i);
  barrier_arrive_expecting(barrier, kTileBytes<kDim>);
  copy_tile<kDim>(ring.tile(i), map, w.kv_head * kDim, int(w.rows.start) + (w.first + i) * kTileKeys, barrier);
}

/// Run by one warp: fills both rings. If the sequence ends inside its last tile, the next sequence's values
/// follow; if they are not finite, a weight of 0 would not cancel them, so they are replaced by zeros.
/// (Scores are masked instead.)
template <int kDim>
__device__ __forceinline__ void fill_rings(const Layout<kDim>& at, const CUtensorMap& keys, const CUtensorMap& values,
                                           const BlockWalk& w) {
  const int last = w.last - w.first, own = w.last_rows(), lane = int(threadIdx.x) % 32;
  if (lane == 0) {
    for (int i = 0; i <= last; ++i) {
      fill_stage(at.keys, i, keys, w, &at.keys.full[i % kStages]);
      fill_stage(at.values, i, values, w, i == last && own < kTileKeys ? at.landed : &at.values.full[i % kStages]);
    }
  }
  if (own == kTileKeys) return;
  __syncwarp();
  barrier_wait(at.landed, 0);
  clear_rows<kDim>(at.values.tile(last), own);
  if (lane == 0) barrier_arrive(&at.values.full[last % kStages]);
}

/// Turns the scores of a tile, whose first key is `key`, into weights.
template <int kDim>
__device__ __forceinline__ void weigh_tile(const QueryRows<kDim>& queries, int key, Exp2Scaled exp, float (&p)[8][4],
                                           RowSums& sums, float (&keep)[2]) {
  if (!queries.rows.inside(key)) mask_scores(key, queries.range, p);
  weigh_scores(exp, p, sums, keep);
}

/// Processes a group's rows over tiles `from` to `to` of the rings; `base` is the first key of tile 0.
/// Products are not inside branches, because ptxas would then serialise them.
template <int kDim>
__device__ __forceinline__ void walk_rings(const Layout<kDim>& at, int from, int to, int base,
                                           const QueryRows<kDim>& queries, Exp2Scaled exp, Turns turn, RowStates<kDim>& s) {
  SavedStates<kDim, kConsumers> before{at.saved};
  float p[8][4], keep[2];
  uint32_t weights[4][4];
  s.clear();
  at.keys.wait_full(from);
  turn.wait();
  wgmma_fence();
  start_scores<kDim>(queries.q, at.keys.tile(from), p);
  turn.pass();
  wgmma_wait<0>();
  wgmma_settle(flat(p));
  at.keys.release(from);
  weigh_tile(queries, base + from * kTileKeys, exp, p, s, keep);
  pack_tile(p, weights);
  for (int i = from + 1; i <= to; ++i) {
    const int key = base + i * kTileKeys;
    const bool new_split = key % int(kAttentionSplit) == 0;
    at.keys.wait_full(i);
    at.values.wait_full(i - 1);
    turn.wait();
    wgmma_fence();
    start_scores<kDim>(queries.q, at.keys.tile(i), p);
    start_sums<kDim>(weights, at.values.tile(i - 1), s.out);
    turn.pass();
    wgmma_wait<1>();
    wgmma_settle(flat(p));
    at.keys.release(i);
    RowSums sums = s;
    if (new_split) sums.clear();
    weigh_tile(queries, key, exp, p, sums, keep);
    wgmma_wait<0>();
    wgmma_settle(flat(s.out));
    at.values.release(i - 1);
    if (new_split) {
      before.join(s, exp);
      before.save(s);
      clear(s.out);
    } else {
      rescale(keep, s.out);
    }
    static_cast<RowSums&>(s) = sums;
    pack_tile(p, weights);
  }
  at.values.wait_full(to);
  turn.wait();
  wgmma_fence();
  start_sums<kDim>(weights, at.values.tile(to), s.out);
  turn.pass();
  wgmma_wait<0>();
  wgmma_settle(flat(s.out));
  before.join(s, exp);
}

/// Run by a group of four warps: computes attention for its 64 rows, 16 per warp.
template <int kDim>
__device__ __forceinline__ void attend_rows(const Layout<kDim>& at, const PackedForward& a, const BlockWalk& w) {
  const int group = group_of_warps(), first_row = w.rows.first_row + group * kGroupRows;
  if (first_row >= w.rows.length) return;
  QueryRows<kDim> queries;
  queries.load(a, w.rows, w.head, first_row + int(threadIdx.x) / 32 % 4 * 16);
  // With a window the second group may start one tile later than the first; it reads no tile after its own
  // diagonal.
  const int from = first_key(first_row, a.window) / kTileKeys - w.first, to = first_row / kTileKeys - w.first;
  for (int i = 0; i < from; ++i) {
    at.keys.release(i);
    at.values.release(i);
  }
  RowStates<kDim> state;
  walk_rings(at, from, to, w.first * kTileKeys, queries, Exp2Scaled{a.scale * kLog2E},
             Turns(at.turns, group, w.groups() == 2 ? w.turns() : 0), state);
  queries.store(a, w.rows, w.head, state);
}

#endif

template <int kDim>
__global__ void __launch_bounds__(kThreads, 1)
    attention_packed_sm90_kernel(const __grid_constant__ CUtensorMap keys, const __grid_constant__ CUtensorMap values,
                                 PackedForward a) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  HONE_DYNAMIC_SHARED(unsigned char, shared);
  const BlockWalk walk(a);
  if (walk.rows.first_row >= walk.rows.length) return;
  const Layout<kDim> at(shared);
  if (threadIdx.x == 0) {
    prefetch_map(keys);
    prefetch_map(values);
    at.keys.make_barriers(4 * walk.groups());
    at.values.make_barriers(4 * walk.groups());
    barrier_init(at.landed, 1);
    for (int i = 0; i < kGroups; ++i) barrier_init(&at.turns[i], 4);
    barriers_made();
  }
  __syncthreads();
  if (threadIdx.x >= kConsumers) {
    give_registers_back<40>();
    if (threadIdx.x < kConsumers + 32) fill_rings(at, keys, values, walk);
  } else {
    take_registers<232>();
    attend_rows(at, a, walk);
  }
#else
  __trap();  // machine code for another device: fails instead of computing nothing
#endif
}

template <int kDim>
void launch_packed(const Stream& stream, dim3 grid, int64_t tokens, int64_t kv_heads, const PackedForward& a) {
  const CUtensorMap keys = tensor_map(a.k, tokens, kv_heads * kDim, a.k_stride, kTileKeys, "the keys");
  const CUtensorMap values = tensor_map(a.v, tokens, kv_heads * kDim, a.v_stride, kTileKeys, "the values");
  HONE_LAUNCH((attention_packed_sm90_kernel<kDim>), grid, kThreads, Layout<kDim>::kBytes, stream, keys, values, a);
}

}  // namespace

void attention_packed_sm90(const Stream& stream, const PackedForward& a, int64_t tokens, int64_t heads) {
  const dim3 grid(unsigned(tile_slots(tokens, a.sequences, kTileRows)), unsigned(heads));
  if (a.dim == 64) launch_packed<64>(stream, grid, tokens, heads / a.group, a);
  else launch_packed<128>(stream, grid, tokens, heads / a.group, a);
}

}  // namespace hone::kernels::cuda
