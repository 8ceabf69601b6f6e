// Common parts of all matrix products on CUDA: operands, output, and storing and adding of pieces.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>

#include "core/stream.h"
#include "kernels/attention.h"
#include "kernels/matmul.h"
#include "kernels/swiglu.h"
#include "kernels/cuda/matmul_plan.h"

namespace hone::kernels::cuda {

/// Which index of an operand is contiguous in memory: k (rows of x, rows of W), or the output's row or column
/// (W read as its transpose; dy and x in the weight gradient).
enum class Inside { kDepth, kLines };

/// A bf16 matrix in device memory: `height` rows of `width` elements, `stride` elements apart.
struct Operand {
  const __nv_bfloat16* data;
  int64_t height, width, stride;
  bool aligned;  // every row is 16-byte aligned and is a whole number of 16-byte chunks
};

/// The output, f32 or bf16 with rows `stride` apart: product + bias + the previous value (if `accumulate`),
/// rounded once.
struct Output {
  void* data;
  int64_t stride;
  const float* bias;  // null: none
  bool bf16, accumulate;
  bool paired;  // two consecutive values from an even column on can be written by one store
};

struct alignas(4) PairBf16 { __nv_bfloat16 first, second; };
struct alignas(8) PairF32 { float first, second; };

__device__ __forceinline__ float loaded(float x) { return x; }
__device__ __forceinline__ float loaded(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ __forceinline__ void stored(float& to, float x) { to = x; }
__device__ __forceinline__ void stored(__nv_bfloat16& to, float x) { to = __float2bfloat16(x); }

/// The pairs of neighbouring columns that a thread stores: pair i is 8 (i % kHigh) rows below and 8 (i /
/// kHigh) columns right of the first. `high` and `wide`: rows and columns from the first pair to the output's
/// edge.
template <class T, int kHigh>
struct PairPlaces {
  T* rows[kHigh];
  int high, wide;
  __device__ __forceinline__ T* at(int i) const { return rows[i % kHigh] + i / kHigh * 8; }
  __device__ __forceinline__ bool has(int i, int e) const { return i % kHigh * 8 < high && i / kHigh * 8 + e < wide; }
};

/// Stores both values of each pair at once. All previous values are loaded before the first store, so that
/// the thread waits for memory only once.
template <class T, class Pair, int kPairs, int kHigh>
__device__ __forceinline__ void finish_pairs(const PairPlaces<T, kHigh>& places, bool accumulate,
                                             float (&v)[kPairs][2]) {
  if (accumulate) {
    Pair was[kPairs] = {};
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      if (places.has(i, 0)) was[i] = *reinterpret_cast<const Pair*>(places.at(i));
    }
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      v[i][0] += loaded(was[i].first);
      v[i][1] += loaded(was[i].second);
    }
  }
#pragma unroll
  for (int i = 0; i < kPairs; ++i) {
    Pair pair;
    stored(pair.first, v[i][0]);
    stored(pair.second, v[i][1]);
    if (places.has(i, 0)) *reinterpret_cast<Pair*>(places.at(i)) = pair;
  }
}

/// Stores values one by one, for outputs whose pairs are not aligned; slower.
template <class T, int kPairs, int kHigh>
__device__ __forceinline__ void finish_singles(const PairPlaces<T, kHigh>& places, bool accumulate,
                                               const float (&v)[kPairs][2]) {
#pragma unroll
  for (int i = 0; i < 2 * kPairs; ++i) {
    if (!places.has(i / 2, i % 2)) continue;
    T& to = places.at(i / 2)[i % 2];
    stored(to, accumulate ? v[i / 2][i % 2] + loaded(to) : v[i / 2][i % 2]);
  }
}

template <class T, class Pair, int kPairs, int kHigh>
__device__ __forceinline__ void finish(const Output& out, int64_t row, int64_t column, int64_t rows, int64_t columns,
                                       float (&v)[kPairs][2]) {
  PairPlaces<T, kHigh> places;
  places.high = int(rows - row < 64 ? rows - row : 64);
  places.wide = int(columns - column < 512 ? columns - column : 512);
#pragma unroll
  for (int i = 0; i < kHigh; ++i) places.rows[i] = static_cast<T*>(out.data) + (row + 8 * i) * out.stride + column;
  if (out.paired && columns % 2 == 0) finish_pairs<T, Pair>(places, out.accumulate, v);
  else finish_singles(places, out.accumulate, v);
}

/// Stores the pairs v, beginning at (row, column), column even; elements outside [rows, columns] are not
/// written.
template <int kPairs, int kHigh>
__device__ __forceinline__ void store_pairs(const Output& out, int64_t row, int64_t column, int64_t rows,
                                            int64_t columns, float (&v)[kPairs][2]) {
  if (row >= rows || column >= columns) return;
  if (out.bias) {
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      const int64_t c = column + i / kHigh * 8;
      if (c < columns) v[i][0] += out.bias[c];
      if (c + 1 < columns) v[i][1] += out.bias[c + 1];
    }
  }
  if (out.bf16) finish<__nv_bfloat16, PairBf16, kPairs, kHigh>(out, row, column, rows, columns, v);
  else finish<float, PairF32, kPairs, kHigh>(out, row, column, rows, columns, v);
}

/// D[rows, columns] = sum over depth of a(row, k) b(column, k), in `pieces` pieces of k. Either every block
/// computes all pieces and adds them, or (`spread`) each piece has its own blocks, which store their f32 sums
/// at out.data + piece * rows * columns for add_pieces.
struct Product {
  Operand a, b;
  Output out;
  int64_t rows, columns, depth;
  int pieces;
  bool spread;
  bool prefetchable = false;  // of b: see PackedMatrix
};

/// Views as the kernels take them: a matrix of activations, a packed matrix, and an output.
inline Operand operand(const TensorView& view) {
  const auto* const data = view.as<const __nv_bfloat16>();
  const bool aligned = reinterpret_cast<uintptr_t>(data) % 16 == 0 && view.row_stride % 8 == 0 && view.dim(1) % 8 == 0;
  return {data, view.dim(0), view.dim(1), view.row_stride, aligned};
}

inline Operand operand(const PackedMatrix& w) {
  const int64_t height = w.transposed ? w.k : w.n, width = w.transposed ? w.n : w.k;
  return operand(TensorView(w.panels, DType::kBF16, {height, width}));
}

inline Output output(const TensorView& y, const TensorView& bias, bool accumulate) {
  const bool bf16 = y.dtype == DType::kBF16;
  const bool paired = y.row_stride % 2 == 0 && reinterpret_cast<uintptr_t>(y.data) % (bf16 ? 4 : 8) == 0;
  return {y.data, y.row_stride, bias.empty() ? nullptr : bias.as<const float>(), bf16, accumulate, paired};
}

/// Throws kShape if 32 bits cannot count a side of the product.
inline void expect_countable(const Product& p) {
  if (std::max({p.rows, p.columns, p.depth}) > kMostLines) fail(Code::kShape, "matmul: a side of more than 2^31 - 1.");
}

/// x W^T; where W is not transposed, in the pieces of k that its shape decides.
inline Product product_of(const TensorView& x, const PackedMatrix& w, const Output& out) {
  Product p{operand(x), operand(w), out, x.dim(0), w.n, w.k, 1, false};
  expect_countable(p);
  if (!w.transposed) p.pieces = fixed_split_k(p.columns, p.depth);
  p.prefetchable = w.prefetchable;
  return p;
}

/// Layout of sums that mma.sync and wgmma share: a lane's first row and column within 16 rows x 8 columns of
/// sums. Its four sums are (row, column), (row, column + 1), (row + 8, column), (row + 8, column + 1).
__device__ __forceinline__ int sum_row(int lane) { return lane / 4; }
__device__ __forceinline__ int sum_column(int lane) { return lane % 4 * 2; }

/// Stores a thread's sums of 16 rows x 8 kBlocks columns from (row, column) on, kPairs pairs at a time (fewer
/// pairs need more round trips to memory, more pairs more registers); sum(j, i) is the i-th of its four sums
/// in the j-th 8 columns.
template <int kBlocks, int kPairs, class Sum>
__device__ __forceinline__ void store_sums(const Product& p, const Output& out, int64_t row, int64_t column,
                                           const Sum& sum) {
  static_assert(2 * kBlocks % kPairs == 0 && kPairs % 2 == 0, "whole groups of pairs");
#pragma unroll
  for (int j = 0; j < kBlocks; j += kPairs / 2) {
    float v[kPairs][2];
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      v[i][0] = sum(j + i / 2, i % 2 * 2);
      v[i][1] = sum(j + i / 2, i % 2 * 2 + 1);
    }
    store_pairs<kPairs, 2>(out, row, column + 8 * j, p.rows, p.columns, v);
  }
}

/// Where a block stores its sums: the output, or its piece's part of the scratch.
__device__ __forceinline__ Output output_of(const Product& p, const BlockWork& work) {
  Output out = p.out;
  if (p.spread) out.data = static_cast<float*>(out.data) + work.first_piece * p.rows * p.columns;
  return out;
}

/// Products of few rows on Hopper, and the ops that follow them (matmul_few_sm90.cu). `wide`: rows of y are
/// 16-byte aligned.
void multiply_few_sm90(const Stream& stream, const Product& p, bool wide);
void multiply_gated_sm90(const Stream& stream, const Product& p, const LinearSwigluArgs& args);
void multiply_heads_sm90(const Stream& stream, const Product& p, const PrepareHeadsArgs& args);
/// True if multiply_heads_sm90 supports these heads.
bool places_heads_sm90(const PrepareHeadsArgs& args);

/// Products with Hopper's wgmma (matmul_sm90.cu); device_is_sm90: whether this thread's device has it.
void multiply_sm90(const Stream& stream, const Product& p, Inside a, Inside b);
bool device_is_sm90();

}  // namespace hone::kernels::cuda
