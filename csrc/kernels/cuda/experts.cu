// Pairs of rows and experts on a GPU: sorting by expert, combination of results, and gradients of the weights.
#include <algorithm>

#include "core/cuda/launch.cuh"
#include "kernels/cuda/experts.h"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/vector.cuh"

namespace hone::kernels::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kMostGroupThreads = 1024;

struct Grouping {
  const int32_t* experts;  // [n]
  int count, k;            // n = R k
  int32_t *begins, *rows, *pairs;
};

/// Of the threads before this one in the block, the number whose `mine` is true; `all`: of all threads. warps: one int per warp.
__device__ __forceinline__ int rank_in_block(bool mine, int* warps, int& all) {
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
  const unsigned votes = __ballot_sync(kFullWarp, mine);
  if (lane == 0) warps[warp] = __popc(votes);
  __syncthreads();
  int before = 0;
  all = 0;
  for (int w = 0; w < int(blockDim.x) / 32; ++w) {
    if (w < warp) before += warps[w];
    all += warps[w];
  }
  __syncthreads();  // warps may be written again
  return before + __popc(votes & ((1u << lane) - 1u));
}

/// Block e counts the pairs of lower experts, then gives places to its own in their order. So the pairs are
/// sorted without memory of their own; reads the experts of all pairs twice per expert, from the L2 cache.
__global__ void __launch_bounds__(kMostGroupThreads) group_rows_kernel(Grouping a) {
  __shared__ int scratch[kMostGroupThreads / 32];
  const int expert = int(blockIdx.x);
  const int threads = int(blockDim.x);
  int first = 0;
  for (int p = int(threadIdx.x); p < a.count; p += threads) first += a.experts[p] < expert;
  first = block_sum(first, scratch);
  if (threadIdx.x == 0) a.begins[expert] = first;
  for (int base = 0; base < a.count; base += threads) {
    const int p = base + int(threadIdx.x);
    const bool mine = p < a.count && a.experts[p] == expert;
    int all;
    const int at = first + rank_in_block(mine, scratch, all);
    if (mine) {
      a.pairs[p] = at;
      a.rows[at] = p / a.k;
    }
    first += all;
  }
  if (threadIdx.x == 0 && blockIdx.x == gridDim.x - 1) a.begins[expert + 1] = first;
}

__global__ void __launch_bounds__(kThreads) count_rows_kernel(const int32_t* begins, int experts, double* counts) {
  const int e = int(blockIdx.x) * kThreads + int(threadIdx.x);
  if (e < experts) counts[e] += double(begins[e + 1] - begins[e]);
}

struct Combination {
  const bf16* from;
  int64_t from_stride;
  const int32_t* pairs;
  const float* weights;  // null: all are 1
  bf16* to;
  int64_t to_stride, width, items;
  int k;
  bool wide;
};

/// A thread adds eight columns of a row's pairs in f32 and rounds once.
__global__ void __launch_bounds__(kThreads) combine_rows_kernel(Combination a) {
  const Item item((a.width + 7) / 8);
  if (item.index >= a.items) return;
  const int64_t c = int64_t(item.piece) * 8, left = a.width - c, first = int64_t(item.row) * a.k;
  bf16* const to = a.to + item.row * a.to_stride + c;
  Eight sum = load_eight(to, left, a.wide);
  for (int j = 0; j < a.k; ++j) {
    const float weight = a.weights ? a.weights[first + j] : 1.0f;
    const Eight v = load_eight(a.from + a.pairs[first + j] * a.from_stride + c, left, a.wide);
#pragma unroll
    for (int i = 0; i < 8; ++i) sum.at[i] += __fmul_rn(weight, v.at[i]);
  }
  store_eight(to, sum, left, a.wide);
}

struct BiasSums {
  const bf16* dy;
  int64_t stride;
  const int32_t *begins, *rows, *pairs;
  const float* weights;  // null: all are 1
  float* dbias;          // [E, width]
  int width, k, first_row, last_row;
  bool wide;
};

/// The weight of pair p, which is among the k pairs of its row. Run by a warp.
__device__ __forceinline__ float weight_of_pair(const BiasSums& a, int p) {
  if (!a.weights) return 1.0f;
  const int64_t first = int64_t(a.rows[p]) * a.k;
  float weight = 0.0f;
  for (int j = int(threadIdx.x) % 32; j < a.k; j += 32) {
    if (a.pairs[first + j] == p) weight = a.weights[first + j];
  }
  return warp_sum(weight);  // that of one lane
}

/// Block (x, e) adds 256 columns of the pairs of expert e: each of 8 warps every eighth pair, then the warps' sums
/// are added in order.
__global__ void __launch_bounds__(kThreads) experts_grad_bias_kernel(BiasSums a) {
  __shared__ float sums[kWarps][256];
  const int e = int(blockIdx.y), warp = int(threadIdx.x) / 32, at = int(threadIdx.x) % 32 * 8;
  const int64_t column = int64_t(blockIdx.x) * 256 + at;
  Eight sum{};
  for (int p = a.begins[e] + warp; p < a.begins[e + 1]; p += kWarps) {
    if (a.rows[p] < a.first_row || a.rows[p] >= a.last_row) continue;
    const float weight = weight_of_pair(a, p);
    const Eight d = load_eight(a.dy + p * a.stride + column, a.width - column, a.wide);
#pragma unroll
    for (int i = 0; i < 8; ++i) sum.at[i] = fmaf(weight, d.at[i], sum.at[i]);
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) sums[warp][at + i] = sum.at[i];
  __syncthreads();
  const int64_t own = int64_t(blockIdx.x) * 256 + threadIdx.x;
  if (own >= a.width) return;
  float total = 0.0f;
  for (int w = 0; w < kWarps; ++w) total += sums[w][threadIdx.x];
  a.dbias[e * int64_t(a.width) + own] += total;
}

struct Rows {
  bf16* data;
  int64_t stride, width;
  bool wide;
};

struct Weighing {
  const int32_t* pairs;  // [n]
  const float* weights;
  float* dweights;
  int64_t count;  // n = R k
  Rows dproduct, product, beside;
  const int32_t* experts;  // [n], or null: the outputs have no bias
  const float* bias;       // [E, doutputs.width]
  Rows doutputs;
};

/// Dot product of a row with another, or with a bias; over a warp.
template <class T>
__device__ __forceinline__ float dot_of(const bf16* x, const T* y, int64_t width, bool wide) {
  float sum = 0.0f;
  for (int64_t c = threadIdx.x % 32 * 8; c < width; c += 256) {
    const Eight a = load_eight(x + c, width - c, wide), b = load_eight(y + c, width - c, wide);
#pragma unroll
    for (int j = 0; j < 8; ++j) sum = fmaf(a.at[j], b.at[j], sum);
  }
  return warp_sum(sum);
}

/// Multiplies a row by a weight, in place; run by a warp.
__device__ __forceinline__ void scale_row(const Rows& of, int64_t row, float weight) {
  for (int64_t c = threadIdx.x % 32 * 8; c < of.width; c += 256) {
    bf16* const at = of.data + row * of.stride + c;
    Eight v = load_eight(at, of.width - c, of.wide);
#pragma unroll
    for (int i = 0; i < 8; ++i) v.at[i] *= weight;
    store_eight(at, v, of.width - c, of.wide);
  }
}

/// A warp weighs a pair.
__global__ void __launch_bounds__(kThreads) weigh_pairs_kernel(Weighing a) {
  const int64_t i = int64_t(blockIdx.x) * kWarps + threadIdx.x / 32;
  if (i >= a.count) return;
  const int64_t p = a.pairs[i];
  float sum = dot_of(a.dproduct.data + p * a.dproduct.stride, a.product.data + p * a.product.stride, a.product.width, a.dproduct.wide && a.product.wide);
  if (a.experts) {
    const int64_t width = a.doutputs.width;
    sum += dot_of(a.doutputs.data + p * a.doutputs.stride, a.bias + a.experts[i] * width, width, a.doutputs.wide);
  }
  if (threadIdx.x % 32 == 0) a.dweights[i] = sum;
  scale_row(a.product, p, a.weights[i]);
  scale_row(a.beside, p, a.weights[i]);
}

Rows rows(const TensorView& view) { return {view.as<bf16>(), view.row_stride, view.dim(1), is_wide(view)}; }

}  // namespace

void group_rows(const Stream& stream, const GroupRowsArgs& args) {
  const Grouping a{args.experts.as<const int32_t>(), int(args.rows.dim(0)), int(args.experts.dim(1)), args.begins.as<int32_t>(),
                   args.rows.as<int32_t>(), args.pairs.as<int32_t>()};
  const int threads = std::clamp((a.count + 31) / 32 * 32, 32, kMostGroupThreads);
  HONE_LAUNCH(group_rows_kernel, unsigned(args.begins.dim(0) - 1), unsigned(threads), 0, stream, a);
}

void count_rows(const Stream& stream, const CountRowsArgs& args) {
  const int64_t E = args.counts.dim(0);
  HONE_LAUNCH(count_rows_kernel, blocks_for(E, kThreads), kThreads, 0, stream, args.begins.as<const int32_t>(), int(E), args.counts.as<double>());
}

void experts_grad_bias(const Stream& stream, const ExpertsGradBiasArgs& args) {
  const int64_t E = args.begins.dim(0) - 1, N = args.dbias.dim(1);
  const BiasSums a{args.dy.as<const bf16>(), args.dy.row_stride, args.begins.as<const int32_t>(), args.rows.as<const int32_t>(),
                   args.pairs.as<const int32_t>(), args.weights.empty() ? nullptr : args.weights.as<const float>(), args.dbias.as<float>(), int(N),
                   int(args.pairs.dim(1)), int(args.first_row), int(args.last_row), is_wide(args.dy)};
  const dim3 grid(blocks_for(N, 256), unsigned(E));
  HONE_LAUNCH(experts_grad_bias_kernel, grid, kThreads, 0, stream, a);
}

void combine_rows(const Stream& stream, const CombineRowsArgs& args) {
  const int64_t R = args.to.dim(0), C = args.to.dim(1);
  const Combination a{args.from.as<const bf16>(), args.from.row_stride, args.pairs.as<const int32_t>(),
                      args.weights.empty() ? nullptr : args.weights.as<const float>(), args.to.as<bf16>(), args.to.row_stride, C,
                      R * ((C + 7) / 8), int(args.pairs.dim(1)), is_wide(args.from) && is_wide(args.to)};
  HONE_LAUNCH(combine_rows_kernel, blocks_for(a.items, kThreads), kThreads, 0, stream, a);
}

void weigh_pairs(const Stream& stream, const WeighPairsArgs& args) {
  const int64_t n = args.product.dim(0);
  Weighing a{args.pairs.as<const int32_t>(), args.weights.as<const float>(), args.dweights.as<float>(), n,
                   rows(args.dproduct), rows(args.product), rows(args.beside),
                   args.bias.empty() ? nullptr : args.experts.as<const int32_t>(), args.bias.as<const float>(),
                   args.bias.empty() ? Rows{} : rows(args.doutputs)};
  a.doutputs.wide = a.doutputs.wide && is_wide(args.bias);
  HONE_LAUNCH(weigh_pairs_kernel, blocks_for(n, kWarps), kThreads, 0, stream, a);
}

}  // namespace hone::kernels::cuda
