// Gates of attention's heads and of rows on a GPU. Matrices are bf16, the gates of rows f32; arithmetic is f32, rounded once.
#include "core/cuda/launch.cuh"
#include "kernels/cuda/head_gate.h"
#include "kernels/cuda/moves.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/swiglu.cuh"
#include "kernels/cuda/vector.cuh"

namespace hone::kernels::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;

/// Columns q_0 | gate_0 | q_1 | .. | rest of the joined matrix, and where heads and gates have them.
struct HeadColumns {
  uint16_t *joined, *heads, *gates;
  int64_t joined_stride, head_stride, gate_stride, width;
  int q, dim;
  __device__ __forceinline__ Move at(int64_t row, int c) const {
    uint16_t* const one = joined + row * joined_stride + c;
    if (c >= 2 * q) return {one, heads + row * head_stride + c - q};
    const int head = c / (2 * dim), inside = c % (2 * dim);
    if (inside < dim) return {one, heads + row * head_stride + head * dim + inside};
    return {one, gates + row * gate_stride + head * dim + inside - dim};
  }
};

HeadColumns columns(const GatedHeads& a) {
  return {a.joined.as<uint16_t>(), a.heads.as<uint16_t>(), a.gates.as<uint16_t>(), a.joined.row_stride, a.heads.row_stride,
          a.gates.row_stride, a.joined.dim(1), int(a.gates.dim(1)), int(a.head_dim)};
}

struct Matrix {
  bf16* data;
  int64_t stride;
  __device__ __forceinline__ bf16* at(int64_t row, int64_t column) const { return data + row * stride + column; }
};
Matrix matrix(const TensorView& view) { return {view.as<bf16>(), view.row_stride}; }

struct Extent {
  int64_t width, pieces, items;
  bool wide;
};
Extent extent(std::initializer_list<TensorView> views) {
  const TensorView& first = *views.begin();
  bool wide = true;
  for (const TensorView& view : views) wide = wide && is_wide(view);
  const int64_t pieces = (first.dim(1) + 7) / 8;
  return {first.dim(1), pieces, first.dim(0) * pieces, wide};
}

__global__ void __launch_bounds__(kThreads) head_gate_kernel(Extent e, Matrix x, Matrix gate, Matrix y) {
  const Item item(e.pieces);
  if (item.index >= e.items) return;
  const int64_t c = int64_t(item.piece) * 8, left = e.width - c;
  Eight v = load_eight(x.at(item.row, c), left, e.wide);
  const Eight g = load_eight(gate.at(item.row, c), left, e.wide);
#pragma unroll
  for (int i = 0; i < 8; ++i) v.at[i] *= sigmoid(g.at[i]);
  store_eight(y.at(item.row, c), v, left, e.wide);
}

/// dx may be dy: a thread reads all of its elements before it writes them.
__global__ void __launch_bounds__(kThreads) head_gate_grad_kernel(Extent e, Matrix x, Matrix gate, Matrix dy, Matrix dx, Matrix dgate) {
  const Item item(e.pieces);
  if (item.index >= e.items) return;
  const int64_t c = int64_t(item.piece) * 8, left = e.width - c;
  const Eight v = load_eight(x.at(item.row, c), left, e.wide);
  Eight g = load_eight(gate.at(item.row, c), left, e.wide), d = load_eight(dy.at(item.row, c), left, e.wide);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float s = sigmoid(g.at[i]);
    g.at[i] = d.at[i] * v.at[i] * s * (1.0f - s);
    d.at[i] *= s;
  }
  store_eight(dx.at(item.row, c), d, left, e.wide);
  store_eight(dgate.at(item.row, c), g, left, e.wide);
}

__global__ void __launch_bounds__(kThreads) row_gate_kernel(Extent e, const float* gate, Matrix x) {
  const Item item(e.pieces);
  if (item.index >= e.items) return;
  const int64_t c = int64_t(item.piece) * 8, left = e.width - c;
  const float s = sigmoid(gate[item.row]);
  Eight v = load_eight(x.at(item.row, c), left, e.wide);
#pragma unroll
  for (int i = 0; i < 8; ++i) v.at[i] *= s;
  store_eight(x.at(item.row, c), v, left, e.wide);
}

/// A warp has a row.
__global__ void __launch_bounds__(kThreads) row_gate_grad_kernel(Extent e, int64_t rows, const float* gate, Matrix gated, Matrix x, float* dgate) {
  const int64_t row = int64_t(blockIdx.x) * kWarps + threadIdx.x / 32;
  if (row >= rows) return;
  const float s = sigmoid(gate[row]);
  float dot = 0.0f;
  for (int64_t c = threadIdx.x % 32 * 8; c < e.width; c += 256) {
    const int64_t left = e.width - c;
    const Eight d = load_eight(gated.at(row, c), left, e.wide);
    Eight v = load_eight(x.at(row, c), left, e.wide);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      dot = fmaf(d.at[i], v.at[i], dot);
      v.at[i] *= s;
    }
    store_eight(x.at(row, c), v, left, e.wide);
  }
  dot = warp_sum(dot);
  if (threadIdx.x % 32 == 0) dgate[row] = (1.0f - s) * dot;
}

}  // namespace

void split_gated_heads(const Stream& stream, const GatedHeads& args) { move_elements<false>(stream, columns(args), args.joined.dim(0)); }

void join_gated_heads(const Stream& stream, const GatedHeads& args) { move_elements<true>(stream, columns(args), args.joined.dim(0)); }

void head_gate(const Stream& stream, const HeadGateArgs& args) {
  const Extent e = extent({args.x, args.gate, args.y});
  HONE_LAUNCH(head_gate_kernel, blocks_for(e.items, kThreads), kThreads, 0, stream, e, matrix(args.x), matrix(args.gate), matrix(args.y));
}

void head_gate_grad(const Stream& stream, const HeadGateGradArgs& args) {
  const Extent e = extent({args.x, args.gate, args.dy, args.dx, args.dgate});
  HONE_LAUNCH(head_gate_grad_kernel, blocks_for(e.items, kThreads), kThreads, 0, stream, e, matrix(args.x), matrix(args.gate), matrix(args.dy),
              matrix(args.dx), matrix(args.dgate));
}

void row_gate(const Stream& stream, const RowGateArgs& args) {
  const Extent e = extent({args.x});
  HONE_LAUNCH(row_gate_kernel, blocks_for(e.items, kThreads), kThreads, 0, stream, e, args.gate.as<const float>(), matrix(args.x));
}

void row_gate_grad(const Stream& stream, const RowGateGradArgs& args) {
  const Extent e = extent({args.gated, args.x});
  const int64_t rows = args.x.dim(0);
  HONE_LAUNCH(row_gate_grad_kernel, blocks_for(rows, kWarps), kThreads, 0, stream, e, rows, args.gate.as<const float>(), matrix(args.gated),
              matrix(args.x), args.dgate.as<float>());
}

}  // namespace hone::kernels::cuda
