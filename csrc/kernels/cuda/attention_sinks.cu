// Gradient of attention's sinks. A block computes that of one head, in f64: eight lanes read a row, thread groups
// take rows in turn, and a fixed tree adds their sums.
#include "core/cuda/launch.cuh"
#include "kernels/cuda/attention.h"
#include "kernels/cuda/attention_tile.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/vector.cuh"

namespace hone::kernels::cuda {
namespace {

constexpr int kThreads = 512, kLanes = 8;

struct Sinks {
  const float* sinks;
  const bf16 *out, *dout;
  int64_t out_stride, dout_stride;
  const float* lse;
  int64_t lse_stride;
  int rows, dim;
  float* dsinks;
};

__device__ __forceinline__ float dot_of(const bf16* x, const bf16* y, int dim, int lane) {
  float sum = 0.0f;
  for (int d = lane * 8; d < dim; d += kLanes * 8) {
    const Eight a = load_vector(x + d), b = load_vector(y + d);
#pragma unroll
    for (int i = 0; i < 8; ++i) sum = fmaf(a.at[i], b.at[i], sum);
  }
#pragma unroll
  for (int stride = kLanes / 2; stride > 0; stride /= 2) sum += __shfl_xor_sync(kFullWarp, sum, stride);
  return sum;
}

__global__ void __launch_bounds__(kThreads) attention_sinks_grad_kernel(Sinks a) {
  __shared__ double scratch[32];
  const int head = int(blockIdx.x), lane = int(threadIdx.x) % kLanes;
  double sum = 0.0;
  for (int base = 0; base < a.rows; base += kThreads / kLanes) {
    const int row = min(base + int(threadIdx.x) / kLanes, a.rows - 1);  // all lanes take part in the exchange
    const int64_t column = int64_t(head) * a.dim;
    const float dot = dot_of(a.dout + row * a.dout_stride + column, a.out + row * a.out_stride + column, a.dim, lane);
    const float p = expf(a.sinks[head] - a.lse[row * a.lse_stride + head]);
    if (lane == 0 && base + int(threadIdx.x) / kLanes < a.rows) sum -= double(p) * double(dot);
  }
  sum = block_sum(sum, scratch);
  if (threadIdx.x == 0) a.dsinks[head] = float(double(a.dsinks[head]) + sum);
}

}  // namespace

void attention_sinks_grad(const Stream& stream, const AttentionSinksGradArgs& args) {
  const Sinks a{args.sinks.as<const float>(), args.out.as<const bf16>(), args.dout.as<const bf16>(), args.out.row_stride, args.dout.row_stride,
                args.lse.as<const float>(), args.lse.row_stride, int(args.out.dim(0)), int(args.out.dim(2)), args.dsinks.as<float>()};
  HONE_LAUNCH(attention_sinks_grad_kernel, unsigned(args.out.dim(1)), kThreads, 0, stream, a);
}

}  // namespace hone::kernels::cuda
