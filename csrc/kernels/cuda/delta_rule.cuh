// What forward and backward of gated DeltaNet share on a GPU: the inputs of the recurrence, and a state in registers.
//
// A warp has C columns of a state; lane l has column l % C and, of every 4 (32 / C) rows, the four from 4 (l / C) on. All sums
// over rows are taken in one order, so that a token's bits depend only on the tokens before it.
#pragma once

#include "kernels/cuda/convolution.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/scratch.h"
#include "kernels/cuda/swiglu.cuh"

namespace hone::kernels::cuda {

/// The convolution's output, and what the recurrence reads besides.
struct DeltaInputs {
  Convolution<PlainInput> conv;
  const bf16* x;  // [R, inputs]
  int64_t x_stride;
  int key_heads, value_heads, key_dim, value_dim;
  const float *decay, *dt, *norm;
  float eps;
  float* out;      // [R, channels]: q | k | v after SiLU
  float* inverse;  // [R, 2, N]: factors that make q and k unit vectors, q's divided by sqrt(Dk)
  float* gates;    // [R, 2, M]: g, then beta

  __device__ __forceinline__ int channels() const { return conv.channels; }
  __device__ __forceinline__ int keys() const { return key_heads * key_dim; }
  __device__ __forceinline__ int values() const { return value_heads * value_dim; }
  __device__ __forceinline__ float* row(int64_t r) const { return out + r * channels(); }
  /// v of value head h.
  __device__ __forceinline__ float* value_row(int64_t r, int h) const { return row(r) + 2 * keys() + h * value_dim; }
  __device__ __forceinline__ const bf16* z_row(int64_t r, int h) const { return x + r * x_stride + channels() + h * value_dim; }
  /// Columns b, and after them a.
  __device__ __forceinline__ const bf16* gate_row(int64_t r) const { return x + r * x_stride + channels() + values(); }
};

__device__ __forceinline__ float softplus(float x) { return x > 20.0f ? x : log1pf(expf(x)); }

/// Takes out, inverse and gates from the arena and computes them.
DeltaInputs make_delta_inputs(const Stream& stream, const TensorView& x, const DeltaWeights& w, const DeltaRuns& runs, const DeltaSizes& sizes,
                              float eps, Arena& scratch);

// ---- the recurrence -----------------------------------------------------------------------------------

/// Number of tokens whose inputs a tile has.
inline constexpr int kTileRows = int(kDeltaStep);

/// A lane's place in its warp's C columns.
template <int C>
struct Lane {
  static constexpr int kParts = 32 / C, kRows = int(kMostCudaDeltaDim) / kParts;  // lanes of a column; rows of a lane
  int column, part;
  __device__ __forceinline__ Lane() : column(int(threadIdx.x) % C), part(int(threadIdx.x) % 32 / C) {}
  /// The state's row of this lane's value i.
  __device__ __forceinline__ int row(int i) const { return i / 4 * (4 * kParts) + part * 4 + i % 4; }
  /// Sum over the lanes that share a column; each gets the same bits.
  __device__ __forceinline__ static float sum_parts(float x) {
#pragma unroll
    for (int stride = C; stride < 32; stride *= 2) x += __shfl_xor_sync(kFullWarp, x, stride);
    return x;
  }
};

/// Inputs of up to kTileRows tokens of one value head, zero beyond the head's sizes. kColumns: columns that the block has.
template <int kColumns>
struct Tile {
  __align__(16) float q[kTileRows][kMostCudaDeltaDim];
  __align__(16) float k[kTileRows][kMostCudaDeltaDim];
  float v[kTileRows][kColumns];
  float decay[kTileRows], beta[kTileRows];

  /// All threads of the block load; the caller synchronizes before and after.
  __device__ __forceinline__ void load(const DeltaInputs& a, int64_t first, int count, int head, int first_column) {
    constexpr int kDim = int(kMostCudaDeltaDim);
    const int key = head / (a.value_heads / a.key_heads);
#pragma unroll 1
    for (int i = int(threadIdx.x); i < count * kDim; i += int(blockDim.x)) {
      const int t = i / kDim, r = i % kDim;
      const float* const inverse = a.inverse + (first + t) * 2 * a.key_heads + key;
      const float* const at = a.row(first + t) + key * a.key_dim + r;
      q[t][r] = r < a.key_dim ? at[0] * inverse[0] : 0.0f;
      k[t][r] = r < a.key_dim ? at[a.keys()] * inverse[a.key_heads] : 0.0f;
    }
#pragma unroll 1
    for (int i = int(threadIdx.x); i < count * kColumns; i += int(blockDim.x)) {
      const int t = i / kColumns, c = i % kColumns;
      v[t][c] = first_column + c < a.value_dim ? a.value_row(first + t, head)[first_column + c] : 0.0f;
    }
    for (int t = int(threadIdx.x); t < count; t += int(blockDim.x)) {
      const float* const gate = a.gates + (first + t) * 2 * a.value_heads + head;
      decay[t] = gate[0], beta[t] = gate[a.value_heads];
    }
  }
};

/// Four values that lie together, 16-byte aligned.
struct Four {
  float at[4];
  __device__ __forceinline__ explicit Four(const float* from) {
    const float4 v = *reinterpret_cast<const float4*>(from);
    at[0] = v.x, at[1] = v.y, at[2] = v.z, at[3] = v.w;
  }
};

/// A lane's part of a state [Dk, Dv].
template <int C>
struct State {
  static constexpr int kRows = Lane<C>::kRows;
  float s[kRows];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < kRows; ++i) s[i] = 0.0f;
  }
  /// S^T k of this lane's column, after S <- g S.
  __device__ __forceinline__ float decayed(float decay, const float* k, const Lane<C>& lane) {
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < kRows; i += 4) {
      const Four of(k + lane.row(i));
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        s[i + j] = s[i + j] * decay;
        sum = fmaf(of.at[j], s[i + j], sum);
      }
    }
    return lane.sum_parts(sum);
  }
  /// S <- S + k (x) change.
  __device__ __forceinline__ void add(const float* k, float change, const Lane<C>& lane) {
#pragma unroll
    for (int i = 0; i < kRows; i += 4) {
      const Four of(k + lane.row(i));
#pragma unroll
      for (int j = 0; j < 4; ++j) s[i + j] = fmaf(of.at[j], change, s[i + j]);
    }
  }
  /// What decayed() and add() do to a state, where the change is known.
  __device__ __forceinline__ void advance(float decay, const float* k, float change, const Lane<C>& lane) {
#pragma unroll
    for (int i = 0; i < kRows; i += 4) {
      const Four of(k + lane.row(i));
#pragma unroll
      for (int j = 0; j < 4; ++j) s[i + j] = fmaf(of.at[j], change, s[i + j] * decay);
    }
  }
  /// S^T q of this lane's column.
  __device__ __forceinline__ float read(const float* q, const Lane<C>& lane) const {
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < kRows; i += 4) {
      const Four of(q + lane.row(i));
#pragma unroll
      for (int j = 0; j < 4; ++j) sum = fmaf(of.at[j], s[i + j], sum);
    }
    return lane.sum_parts(sum);
  }
  /// Copies as this warp's registers have them: kMostCudaDeltaDim C floats.
  __device__ __forceinline__ void keep(float* to) const {
#pragma unroll
    for (int i = 0; i < kRows; i += 4) {
      reinterpret_cast<float4*>(to)[i * 8 + int(threadIdx.x) % 32] = make_float4(s[i], s[i + 1], s[i + 2], s[i + 3]);
    }
  }
  __device__ __forceinline__ void restore(const float* from) {
#pragma unroll
    for (int i = 0; i < kRows; i += 4) {
      const Four of(from + i * 32 + int(threadIdx.x) % 32 * 4);
#pragma unroll
      for (int j = 0; j < 4; ++j) s[i + j] = of.at[j];
    }
  }
};

/// Index of a head's state before row `chunk` kDeltaChunk, which is not 0, of a run that begins at row `first`; another for every run.
__device__ __forceinline__ int64_t mark_index(int first, int chunk, const DeltaInputs& a, int head) {
  return int64_t(first / int(kDeltaChunk) + chunk - 1) * a.value_heads + head;
}
/// The mark's part that the warp of four columns from `column` on has, in memory [marks][warps of a head].
__device__ __forceinline__ float* mark(float* marks, int64_t index, const DeltaInputs& a, int column) {
  constexpr int kColumns = int(kDeltaWarpColumns);
  return marks + (index * ((a.value_dim + kColumns - 1) / kColumns) + column / kColumns) * kDeltaWarpFloats;
}

/// Where the recurrence writes o = S^T q; and, for a backward, states.
struct DeltaOutputs {
  float* o = nullptr;      // [R, M Dv], and v - S^T k overwrites v; null: o overwrites v
  float* marks = nullptr;  // states before every kDeltaChunk-th row of a run but the first
};
void run_recurrence(const Stream& stream, const DeltaInputs& inputs, const DeltaOutputs& outputs);

}  // namespace hone::kernels::cuda
