// The short convolution between two gates on a GPU. Products b x are computed where they are read; arithmetic is f32, rounded
// once. A thread has a channel of a row.
#include "kernels/cuda/convolution.cuh"
#include "kernels/cuda/short_conv.h"

namespace hone::kernels::cuda {
namespace {

constexpr int kThreads = 256;

/// Columns b | c | x, C channels each; the convolution's input is b x.
struct GatedInput {
  const bf16* x;
  int64_t stride;
  int channels;
  __device__ __forceinline__ float part(int64_t row, int which, int c) const { return to_f32(x[row * stride + which * channels + c]); }
  __device__ __forceinline__ float at(int64_t row, int c) const { return part(row, 0, c) * part(row, 2, c); }
};

/// The gradient of the convolution's sums: c dy.
struct GatedSlopes {
  GatedInput in;
  const bf16* dy;
  int64_t stride;
  __device__ __forceinline__ float dy_at(int64_t row, int c) const { return to_f32(dy[row * stride + c]); }
  __device__ __forceinline__ float at(int64_t row, int c) const { return dy_at(row, c) * in.part(row, 1, c); }
};

__global__ void __launch_bounds__(kThreads) short_conv_kernel(Convolution<GatedInput> a, bf16* y, int64_t y_stride) {
  const Item item(a.channels);
  if (int64_t(item.row) >= a.rows) return;
  const int row = int(item.row), c = int(item.piece);
  round_to(y[row * y_stride + c], a.at(row, a.runs.of_row(row), c) * a.in.part(row, 1, c));
}

__global__ void __launch_bounds__(kThreads) short_conv_grad_kernel(Convolution<GatedInput> a, GatedSlopes d, bf16* dx, int64_t dx_stride) {
  const Item item(a.channels);
  if (int64_t(item.row) >= a.rows) return;
  const int row = int(item.row), c = int(item.piece), run = a.runs.of_row(row);
  const float inside = a.grad_at(d, row, run, c);
  bf16* const to = dx + row * dx_stride + c;
  round_to(to[0], inside * a.in.part(row, 2, c));
  round_to(to[a.channels], d.dy_at(row, c) * a.at(row, run, c));
  round_to(to[2 * a.channels], inside * a.in.part(row, 0, c));
}

Convolution<GatedInput> convolution(const TensorView& x, const TensorView& conv, const DeltaRuns& runs) {
  const int channels = int(conv.dim(0));
  return {{x.as<const bf16>(), x.row_stride, channels}, conv.as<const float>(), channels, int(conv.dim(1)), Runs::of(runs), x.dim(0)};
}

}  // namespace

void short_conv(const Stream& stream, const ShortConvArgs& args) {
  const Convolution<GatedInput> a = convolution(args.x, args.conv, args.runs);
  HONE_LAUNCH(short_conv_kernel, blocks_for(a.items(), kThreads), kThreads, 0, stream, a, args.y.as<bf16>(), args.y.row_stride);
  keep_tails(stream, a);
}

void short_conv_grad(const Stream& stream, const ShortConvGradArgs& args) {
  const int64_t mark = args.scratch->mark();
  const Convolution<GatedInput> a = convolution(args.x, args.conv, {args.cu_rows, nullptr});
  const GatedSlopes d{a.in, args.dy.as<const bf16>(), args.dy.row_stride};
  HONE_LAUNCH(short_conv_grad_kernel, blocks_for(a.items(), kThreads), kThreads, 0, stream, a, d, args.dx.as<bf16>(), args.dx.row_stride);
  tap_gradient(stream, a, d, args.scratch->take_array<float>(conv_sums(a.rows, a.channels, a.taps)), args.dconv.as<float>());
  args.scratch->release(mark);
}

}  // namespace hone::kernels::cuda
