// What every matrix product on CUDA has in common: its operands, its output, and the order in which pieces are added.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include "core/stream.h"
#include "kernels/cuda/matmul_plan.h"

namespace hone::kernels::cuda {

/// Which index of an operand lies side by side in memory: k (rows of x, rows of W), or the output's row or column
/// (W read as its transpose; dy and x in the weight gradient).
enum class Inside { kDepth, kLines };

/// A bf16 matrix in device memory: `height` rows of `width` elements, `stride` elements apart.
struct Operand {
  const __nv_bfloat16* data;
  int64_t height, width, stride;
  bool aligned;  // every row starts at 16 bytes and is a whole number of 16-byte chunks
};

/// f32 or bf16 with rows `stride` apart; v + bias + what was there (when `accumulate`), rounded once.
struct Output {
  void* data;
  int64_t stride;
  const float* bias;  // null: none
  bool bf16, accumulate;
  bool paired;  // two neighbours from an even column on can be written at once
};

struct alignas(4) PairBf16 { __nv_bfloat16 first, second; };
struct alignas(8) PairF32 { float first, second; };

__device__ __forceinline__ float loaded(float x) { return x; }
__device__ __forceinline__ float loaded(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ __forceinline__ void stored(float& to, float x) { to = x; }
__device__ __forceinline__ void stored(__nv_bfloat16& to, float x) { to = __float2bfloat16(x); }

template <class T, class Pair>
__device__ __forceinline__ void store_two(const Output& out, int64_t row, int64_t column, int64_t columns, float v0,
                                          float v1) {
  T* const to = static_cast<T*>(out.data) + row * out.stride + column;
  const bool both = column + 1 < columns;
  if (out.bias) {
    v0 += out.bias[column];
    if (both) v1 += out.bias[column + 1];
  }
  if (both && out.paired) {
    Pair pair;
    if (out.accumulate) {
      pair = *reinterpret_cast<const Pair*>(to);
      v0 += loaded(pair.first);
      v1 += loaded(pair.second);
    }
    stored(pair.first, v0);
    stored(pair.second, v1);
    *reinterpret_cast<Pair*>(to) = pair;
    return;
  }
  stored(to[0], out.accumulate ? v0 + loaded(to[0]) : v0);
  if (both) stored(to[1], out.accumulate ? v1 + loaded(to[1]) : v1);
}

/// Finishes the elements (row, column) and (row, column + 1), column even; outside [rows, columns] does nothing.
__device__ __forceinline__ void store_pair(const Output& out, int64_t row, int64_t column, int64_t rows,
                                           int64_t columns, float v0, float v1) {
  if (row >= rows || column >= columns) return;
  if (out.bf16) store_two<__nv_bfloat16, PairBf16>(out, row, column, columns, v0, v1);
  else store_two<float, PairF32>(out, row, column, columns, v0, v1);
}

/// D[rows, columns] = sum over depth of a(row, k) b(column, k), in `pieces` pieces of k.
/// Either every block walks all pieces and adds them up, or (`spread`) each piece has blocks of its own that leave
/// their f32 sums at out.data + piece * rows * columns for add_pieces.
struct Product {
  Operand a, b;
  Output out;
  int64_t rows, columns, depth;
  int pieces;
  bool spread;
};

/// The fragment layout both instructions share: lane's first row and column within 16 rows x 8 columns of sums;
/// its four sums are (row, column), (row, column + 1), (row + 8, column), (row + 8, column + 1).
__device__ __forceinline__ int sum_row(int lane) { return lane / 4; }
__device__ __forceinline__ int sum_column(int lane) { return lane % 4 * 2; }

__device__ __forceinline__ void store_sums(const Product& p, const Output& out, int64_t row, int64_t column, float v0,
                                           float v1, float v2, float v3) {
  store_pair(out, row, column, p.rows, p.columns, v0, v1);
  store_pair(out, row + 8, column, p.rows, p.columns, v2, v3);
}

/// Where a block leaves its sums: the output, or its piece's place in the scratch.
__device__ __forceinline__ Output output_of(const Product& p, const BlockWork& work) {
  Output out = p.out;
  if (p.spread) out.data = static_cast<float*>(out.data) + work.first_piece * p.rows * p.columns;
  return out;
}

/// The products on Hopper's wgmma (matmul_sm90.cu), and whether the device of this thread has it.
void multiply_sm90(const Stream& stream, const Product& p, Inside a, Inside b);
bool device_is_sm90();

}  // namespace hone::kernels::cuda
