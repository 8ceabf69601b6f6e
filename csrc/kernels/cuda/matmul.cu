#include "kernels/cuda/matmul.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "core/arena.h"

#include "kernels/cuda/matmul_tile.cuh"
#include "kernels/cuda/vector.cuh"

namespace hone::kernels::cuda {
namespace {

constexpr int kThreads = 256;

std::atomic<bool>& portable_only() {
  static std::atomic<bool> on = [] {
    const char* const given = std::getenv("HONE_CUDA_PORTABLE");
    return given && std::strcmp(given, "0") != 0;
  }();
  return on;
}

/// Adds the f32 sums of a spread product's pieces, in ascending order from 0, and writes y. Reads 4 * pieces
/// bytes per element.
__global__ void __launch_bounds__(kThreads) add_pieces_kernel(const float* sums, int pieces, Output out, int64_t rows,
                                                             int64_t columns) {
  const int64_t pairs = ceil_div(columns, 2), index = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t row = index / pairs, column = index % pairs * 2;
  if (row >= rows) return;
  const bool both = column + 1 < columns;
  float v[1][2] = {};
  for (int piece = 0; piece < pieces; ++piece) {
    const float* const at = sums + (piece * rows + row) * columns + column;
    v[0][0] += at[0];
    if (both) v[0][1] += at[1];
  }
  store_pairs<1, 1>(out, row, column, rows, columns, v);
}

/// dbias[j] += sum of dy[:, j]. Warp i of 8 adds rows i, i + 8, ...; the 8 results are then added in
/// ascending order. Reads dy once: 2 bytes per element.
__global__ void __launch_bounds__(kThreads) add_columns_kernel(Operand dy, float* dbias) {
  __shared__ float lanes[8][33];
  const int lane = int(threadIdx.x) / 32, inner = int(threadIdx.x) % 32;
  const int64_t column = int64_t(blockIdx.x) * 32 + inner;
  float sum = 0.0f;
  if (column < dy.width) {
#pragma unroll 16
    for (int64_t row = lane; row < dy.height; row += 8) sum += __bfloat162float(dy.data[row * dy.stride + column]);
  }
  lanes[lane][inner] = sum;
  __syncthreads();
  if (lane != 0 || column >= dy.width) return;
  for (int i = 1; i < 8; ++i) sum += lanes[i][inner];
  dbias[column] += sum;
}

/// Copies w f32 [height, width], strided rows, to contiguous rows of bf16 or f32; moves 6 or 8 bytes per
/// element.
template <class T>
__global__ void __launch_bounds__(kThreads) pack_kernel(const float* w, int64_t stride, int64_t height, int64_t width,
                                                       T* panels) {
  const int64_t pairs = ceil_div(width, 2), index = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t row = index / pairs, column = index % pairs * 2;
  if (row >= height) return;
  for (int64_t c = column; c < width && c < column + 2; ++c) stored(panels[row * width + c], w[row * stride + c]);
}

template <class T>
void pack(const Stream& stream, const PackMatrixArgs& a) {
  const int64_t height = a.w.dim(0), width = a.w.dim(1);
  HONE_LAUNCH(pack_kernel<T>, unsigned(ceil_div(height * ceil_div(width, 2), kThreads)), kThreads, 0, stream,
              a.w.as<const float>(), a.w.row_stride, height, width, static_cast<T*>(a.out.panels));
}

void multiply_portable(const Stream& stream, const Product& p, Inside a, Inside b) {
  constexpr Inside kDepth = Inside::kDepth, kLines = Inside::kLines;
  if (a == kLines) return launch_product<Tile128, kLines, kLines, false>(stream, p);
  if (b == kLines) return launch_product<Tile128, kDepth, kLines, false>(stream, p);
  if (p.rows <= 16) return launch_product<Tile16, kDepth, kDepth, false>(stream, p);
  if (p.rows <= kFewRows) return launch_product<Tile64, kDepth, kDepth, false>(stream, p);
  if (p.pieces > 1) return launch_product<Tile128, kDepth, kDepth, true>(stream, p);
  launch_product<Tile128, kDepth, kDepth, false>(stream, p);
}

void multiply(const Stream& stream, const Product& p, Inside a, Inside b, int64_t n, int64_t k) {
  expect_countable(p);
  if constexpr (::hone::cuda::kSm90Built) {
    if (uses_wgmma(n, k)) return multiply_sm90(stream, p, a, b);
  }
  multiply_portable(stream, p, a, b);
}

/// Computes each piece of k in its own blocks, with sums in scratch, then adds the pieces.
void multiply_spread(const Stream& stream, const LinearArgs& a, Product p) {
  if (!a.scratch) fail(Code::kInternal, "linear: no scratch for %d pieces of k; see linear_scratch_bytes.", p.pieces);
  const int64_t mark = a.scratch->mark();
  float* const sums = a.scratch->take_array<float>(p.pieces * p.rows * p.columns);
  const Output out = p.out;
  p.spread = true;
  p.out = {sums, p.columns, nullptr, false, false, p.columns % 2 == 0};
  multiply(stream, p, Inside::kDepth, Inside::kDepth, a.w.n, a.w.k);
  const int64_t threads = p.rows * ceil_div(p.columns, 2);
  HONE_LAUNCH(add_pieces_kernel, unsigned(ceil_div(threads, kThreads)), kThreads, 0, stream, sums, p.pieces, out,
              p.rows, p.columns);
  a.scratch->release(mark);
}

/// True if a product uses the Hopper kernels for few rows.
bool is_few_sm90(const PackedMatrix& w, int64_t rows) {
  return ::hone::cuda::kSm90Built && !w.transposed && rows <= kFewRows && uses_wgmma(w.n, w.k);
}

}  // namespace

void force_portable(bool on) { portable_only() = on; }

bool has_wgmma() {
  if constexpr (::hone::cuda::kSm90Built) return !portable_only() && device_is_sm90();
  return false;
}

bool uses_wgmma(int64_t n, int64_t k) { return n % 8 == 0 && k % 8 == 0 && k > 0 && has_wgmma(); }

void pack_matrix(const Stream& stream, const PackMatrixArgs& a) {
  if (a.out.storage == DType::kBF16) pack<__nv_bfloat16>(stream, a);
  else pack<float>(stream, a);
}

void linear(const Stream& stream, const LinearArgs& a) {
  const Product p = product_of(a.x, a.w, output(a.y, a.bias, a.accumulate));
  if (a.w.transposed) return multiply(stream, p, Inside::kDepth, Inside::kLines, p.columns, p.depth);
  if constexpr (::hone::cuda::kSm90Built) {
    if (is_few_sm90(a.w, p.rows)) return multiply_few_sm90(stream, p, is_wide(a.y));
  }
  if (p.pieces > 1 && p.rows <= kFewRows) return multiply_spread(stream, a, p);
  multiply(stream, p, Inside::kDepth, Inside::kDepth, p.columns, p.depth);
}

bool takes_swiglu(const LinearSwigluArgs& a) { return is_few_sm90(a.w, a.x.dim(0)); }

void linear_swiglu(const Stream& stream, const LinearSwigluArgs& a) {
  if constexpr (::hone::cuda::kSm90Built) multiply_gated_sm90(stream, product_of(a.x, a.w, output(a.gate_up, {}, false)), a);
}

bool takes_heads(const LinearArgs& product, const PrepareHeadsArgs& heads) {
  if constexpr (::hone::cuda::kSm90Built) {
    return is_few_sm90(product.w, product.x.dim(0)) && is_wide(product.y) && places_heads_sm90(heads);
  }
  return false;
}

void linear_heads(const Stream& stream, const LinearArgs& a, const PrepareHeadsArgs& heads) {
  if constexpr (::hone::cuda::kSm90Built) {
    multiply_heads_sm90(stream, product_of(a.x, a.w, output(a.y, a.bias, false)), heads);
  }
}

void linear_grad_weight(const Stream& stream, const LinearGradWeightArgs& a) {
  const Operand dy = operand(a.dy), x = operand(a.x);
  if (!a.dbias.empty()) {
    HONE_LAUNCH(add_columns_kernel, unsigned(ceil_div(dy.width, 32)), kThreads, 0, stream, dy, a.dbias.as<float>());
  }
  const Product p{dy, x, output(a.dw, {}, true), dy.width, x.width, dy.height, 1, false};
  if (p.columns > 0) multiply(stream, p, Inside::kLines, Inside::kLines, p.rows, p.columns);
}

}  // namespace hone::kernels::cuda
