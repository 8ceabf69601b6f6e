// Sums over parts on a GPU: each thread adds eight consecutive elements of all parts; a thread block sums the
// squares of one block of elements.
#include "core/cuda/launch.cuh"
#include "kernels/cuda/parts.h"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/vector.cuh"

namespace hone::kernels::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) add_parts_kernel(const float* parts, int64_t stride, int64_t count, float* sum, int64_t n,
                                                             bool wide) {
  const int64_t i = (int64_t(blockIdx.x) * kThreads + threadIdx.x) * 8;
  if (i >= n) return;
  Eight total = load_eight(sum + i, n - i, wide);
  for (int64_t p = 0; p < count; ++p) {
    const Eight part = load_eight(parts + p * stride + i, n - i, wide);
#pragma unroll
    for (int k = 0; k < 8; ++k) total.at[k] += part.at[k];
  }
  store_eight(sum + i, total, n - i, wide);
}

__global__ void __launch_bounds__(kThreads) block_squares_kernel(const float* x, const float* from, int64_t n, bool wide, double* squares) {
  __shared__ double scratch[32];
  const int64_t begin = int64_t(blockIdx.x) * kSquaresBlock, end = min(begin + kSquaresBlock, n);
  double sum = 0.0;
  for (int64_t i = begin + threadIdx.x * 8; i < end; i += kThreads * 8) {
    const Eight v = load_eight(x + i, end - i, wide);
    const Eight old = from ? load_eight(from + i, end - i, wide) : Eight{};
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const float change = v.at[k] - old.at[k];
      sum += double(change) * double(change);
    }
  }
  sum = block_sum(sum, scratch);
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

}  // namespace

void add_parts(const Stream& stream, const AddPartsArgs& args) {
  const int64_t n = args.sum.dim(0), eights = (n + 7) / 8;
  const bool wide = is_wide(args.sum) && is_wide(args.parts);
  HONE_LAUNCH(add_parts_kernel, unsigned((eights + kThreads - 1) / kThreads), kThreads, 0, stream, args.parts.as<const float>(),
              args.parts.row_stride, args.parts.dim(0), args.sum.as<float>(), n, wide);
}

void block_squares(const Stream& stream, const BlockSquaresArgs& args) {
  const bool wide = is_wide(args.x) && (args.from.empty() || is_wide(args.from));
  HONE_LAUNCH(block_squares_kernel, unsigned(args.squares.dim(0)), kThreads, 0, stream, args.x.as<const float>(),
              args.from.as<const float>(), args.x.dim(0), wide, args.squares.as<double>());
}

}  // namespace hone::kernels::cuda
