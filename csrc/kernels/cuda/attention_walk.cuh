// Iterates a block's query rows over their keys, in ascending tiles of 64 (32 with heads wider than 128) within
// splits of 512. Packed
// forward and paged attention only differ in where rows lie; both use these functions, so that their bits are
// equal.
#pragma once

#include "kernels/attention.h"
#include "kernels/attention_state.h"
#include "kernels/cuda/attention_tile.cuh"

namespace hone::kernels::cuda {

/// Weight of a score. Scores are stored without the factor `scale`; `scale_log2` = scale log2(e) applies it
/// within the exponent.
struct Exp2Scaled {
  float scale_log2;
  HONE_HOST_DEVICE float operator()(float difference) const { return exp2f(difference * scale_log2); }
};

/// Softmax state of a lane's two rows over the keys so far: largest score and sum of e^(score - largest).
/// Until SavedStates::join, `total` is only the lane's share of the sum.
struct RowSums {
  float maximum[2], total[2];

  __device__ __forceinline__ void clear() {
    maximum[0] = maximum[1] = -INFINITY;
    total[0] = total[1] = 0.0f;
  }
};

/// Softmax state, with the sum of e^(score - largest) v over the columns that the block sums.
template <int kDim>
struct RowStates : RowSums {
  float out[Division<kDim>::kColumns / 8][4];

  __device__ __forceinline__ void clear() {
    RowSums::clear();
    cuda::clear(out);
  }
};

/// Keys [first, last] that each of the lane's two rows reads; first > last: none.
struct KeyRange {
  int first[2], last[2];
};

// ---- a tile: scores, their weights, the sum of values ----------------------------------------------------

/// Sets the scores of those of a tile's keys, from `base` on, that are outside a row's range to -inf.
template <int kBlocks>
__device__ __forceinline__ void mask_scores(int base, const KeyRange& range, float (&p)[kBlocks][4]) {
  const int column = base + threadIdx.x % 4 * 2;
#pragma unroll
  for (int n = 0; n < kBlocks; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int key = column + n * 8 + i % 2;
      if (key < range.first[i / 2] || key > range.last[i / 2]) p[n][i] = -INFINITY;
    }
}

/// Turns scores into weights e^(score - largest) and adds them to the row sums. `keep` is the factor that the
/// sum of values so far must be multiplied by. A row without a key in this tile keeps its sums to the bit;
/// its `keep` is 1 if it had keys before.
template <int kBlocks>
__device__ __forceinline__ void weigh_scores(Exp2Scaled exp, float (&p)[kBlocks][4], RowSums& s, float (&keep)[2]) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float maximum = s.maximum[r];
#pragma unroll
    for (int n = 0; n < kBlocks; ++n) maximum = fmaxf(maximum, fmaxf(p[n][2 * r], p[n][2 * r + 1]));
    maximum = quad_max(maximum);
    // a row without keys so far gets weights 0: e^(-inf - 0)
    const float shift = maximum == -INFINITY ? 0.0f : maximum;
    const float minus = -shift * exp.scale_log2;
    float total = 0.0f;
#pragma unroll
    for (int n = 0; n < kBlocks; ++n)
#pragma unroll
      for (int i = 2 * r; i < 2 * r + 2; ++i) total += p[n][i] = exp2_normal(fmaf(p[n][i], exp.scale_log2, minus));
    keep[r] = exp(s.maximum[r] - shift);
    s.maximum[r] = maximum;
    s.total[r] = fmaf(s.total[r], keep[r], total);
  }
}

template <int kBlocks>
__device__ __forceinline__ void rescale(const float (&keep)[2], float (&out)[kBlocks][4]) {
#pragma unroll
  for (int n = 0; n < kBlocks; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) out[n][i] *= keep[i / 2];
}

/// Adds a tile's keys, from `base` on, to the row states of their split. Keys outside a row's range change no bit of
/// it.
template <int kDim>
__device__ __forceinline__ void attend_tile(const uint32_t (&q)[kDim / 16][4], const bf16* keys, const bf16* values,
                                            int base, const KeyRange& range, bool inside, Exp2Scaled exp,
                                            RowStates<kDim>& s) {
  float p[Division<kDim>::kKeys / 8][4], keep[2];
  clear(p);
  multiply_columns<kDim>(q, keys, 0, p);
  if (!inside) mask_scores(base, range, p);
  weigh_scores(exp, p, s, keep);
  rescale(keep, s.out);
  multiply_rows<Division<kDim>::kColumns>(p, values, 0, s.out);
}

// ---- splits ----------------------------------------------------------------------------------------------

/// A lane's row states of the earlier splits, stored in shared memory because registers are scarce and they
/// are needed only once per 512 keys. Element e of thread t is at [e][t].
template <int kDim, int kThreads>
struct SavedStates {
  float* memory;
  bool any = false;

  static constexpr int kColumns = Division<kDim>::kColumns, kFloats = (4 + kColumns / 2) * kThreads;
  __device__ __forceinline__ float& at(int element) const { return memory[element * kThreads + threadIdx.x]; }

  __device__ __forceinline__ void save(const RowStates<kDim>& s) {
    any = true;
#pragma unroll
    for (int r = 0; r < 2; ++r) at(r) = s.maximum[r], at(2 + r) = s.total[r];
#pragma unroll
    for (int i = 0; i < kColumns / 2; ++i) at(4 + i) = s.out[i / 4][i % 4];
  }
  /// Must be called when a split is complete: merges the states of earlier splits, if any, with it.
  __device__ __forceinline__ void join(RowStates<kDim>& s, Exp2Scaled exp) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      s.total[r] = quad_sum(s.total[r]);
      if (!any) continue;
      const MergeWeights w = merge_weights(at(r), s.maximum[r], exp);
      s.maximum[r] = w.maximum;
      s.total[r] = fmaf(s.total[r], w.b, at(2 + r) * w.a);
#pragma unroll
      for (int n = 0; n < kColumns / 8; ++n)
#pragma unroll
        for (int i = 2 * r; i < 2 * r + 2; ++i) s.out[n][i] = fmaf(s.out[n][i], w.b, at(4 + n * 4 + i) * w.a);
    }
  }
};

/// Completes a row's softmax state: adds the key of the head's sink, if there is one, whose value is 0. Returns the
/// factor that turns the sum of values into the row's result.
__device__ __forceinline__ float finish_row(float& maximum, float& total, Exp2Scaled exp, const float* sink) {
  float keep = 1.0f;
  if (sink) {
    const MergeWeights w = merge_weights(maximum, *sink * kLog2E / exp.scale_log2, exp);
    maximum = w.maximum, keep = w.a;
    total = fmaf(total, w.a, w.b);
  }
  return 1.0f / total * keep;
}

/// First and last position of a warp's rows, which ascend; first > last: the warp has no rows.
struct WarpRows {
  int first, last, window;

  __device__ __forceinline__ bool busy() const { return first <= last; }
  /// True if every row reads all keys of the tile from `base` on.
  template <int kKeys = kTileKeys>
  __device__ __forceinline__ bool inside(int base) const {
    return base >= first_key(last, window) && base + kKeys - 1 <= first;
  }
};

/// Iterates over the tiles of one sequence's keys low .. high (some row reads each of these two), ascending.
template <int kDim, int kThreads, class Keys>
struct AscendingWalk {
  static constexpr int kKeys = Division<kDim>::kKeys;
  const Keys& keys;
  int low, high, dim, part;
  const WarpRows& rows;
  const KeyRange& ranges;
  int base;

  __device__ __forceinline__ bool begin() {
    base = low / kKeys * kKeys;
    return true;
  }
  __device__ __forceinline__ bool advance() {
    base += kKeys;
    return base <= high;
  }
  __device__ __forceinline__ void load(bf16* tile_keys, bf16* tile_values) const {
    load_keys<kDim, kThreads>(keys, base, low, high, dim, part, tile_keys, tile_values);
  }
  __device__ __forceinline__ bool busy() const { return rows.busy() && base <= rows.last; }
  __device__ __forceinline__ bool inside() const { return rows.template inside<kKeys>(base); }
  __device__ __forceinline__ const KeyRange& range() const { return ranges; }
  __device__ __forceinline__ bool continues() const { return base + kKeys <= rows.last; }
};

/// Processes the block's rows over the tiles of `next`, a walk. A walk has: begin() and advance(), which
/// return true while there is a tile; `base`, the tile's first key; load(); whether the warp reads the tile;
/// inside(), whether every row reads all of it; range(), the keys that the lane's rows read; continues(),
/// whether the warp reads a later tile. `shared` has walk_shared_bytes. All threads of the block take part;
/// `s` is overwritten.
template <int kDim, int kThreads, class Walk>
__device__ __forceinline__ void walk_tiles(Walk next, const uint32_t (&q)[kDim / 16][4], Exp2Scaled exp, bf16* shared,
                                           RowStates<kDim>& s) {
  using D = Division<kDim>;
  constexpr int kTile = D::kKeys * kDim, kStage = kTile + D::kKeys * D::kColumns;
  constexpr int kSplitTiles = int(kAttentionSplit) / D::kKeys;
  SavedStates<kDim, kThreads> before{reinterpret_cast<float*>(shared + 2 * kStage)};
  s.clear();
  __syncthreads();  // the block's previous call no longer reads the tiles
  bool more = next.begin();
  if (more) next.load(shared, shared + kTile);
  for (int stage = 0; more; stage = 1 - stage) {
    const Walk here = next;
    bf16* const tile = shared + stage * kStage;
    cp_async_wait<0>();
    __syncthreads();  // the tile has arrived, and no thread still reads the other pair of tiles
    more = next.advance();
    if (more) {
      bf16* const other = shared + (1 - stage) * kStage;
      next.load(other, other + kTile);
    }
    if (!here.busy()) continue;
    attend_tile<kDim>(q, tile, tile + kTile, here.base, here.range(), here.inside(), exp, s);
    if ((here.base / D::kKeys + 1) % kSplitTiles == 0 && here.continues()) {
      before.join(s, exp);
      before.save(s);
      s.clear();
    }
  }
  before.join(s, exp);
}

template <int kDim, int kThreads, class Keys>
__device__ __forceinline__ void walk_keys(const Keys& keys, int low, int high, int dim, int part, const WarpRows& rows,
                                          const uint32_t (&q)[kDim / 16][4], const KeyRange& range, Exp2Scaled exp,
                                          bf16* shared, RowStates<kDim>& s) {
  walk_tiles<kDim, kThreads>(AscendingWalk<kDim, kThreads, Keys>{keys, low, high, dim, part, rows, range, 0}, q, exp,
                             shared, s);
}

/// Shared memory of walk_tiles: two tiles of keys, two of values, and SavedStates.
template <int kDim, int kThreads>
constexpr size_t walk_shared_bytes() {
  using D = Division<kDim>;
  return size_t(2) * D::kKeys * (kDim + D::kColumns) * sizeof(bf16) + SavedStates<kDim, kThreads>::kFloats * sizeof(float);
}

}  // namespace hone::kernels::cuda
