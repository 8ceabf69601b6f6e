#include "kernels/short_conv.h"

#include "kernels/cpu/short_conv.h"
#include "kernels/cuda/scratch.h"
#include "kernels/cuda/short_conv.h"

namespace hone::kernels {
namespace {

void expect_convolution(const Stream& stream, const TensorView& x, const TensorView& y, const TensorView& conv, const TensorView& cu_rows, const char* op) {
  expect_runs(stream, cu_rows, x.dim(0), op);
  const int64_t R = x.dim(0), C = conv.dim(0), taps = conv.dim(1);
  if (taps < 1 || taps > kMostTaps) fail(Code::kShape, "%s: %lld taps; it takes 1 to %lld.", op, (long long)taps, (long long)kMostTaps);
  expect_contiguous(conv, DType::kF32, {C, taps}, op, "conv");
  expect_contiguous(x, activation_dtype(stream), {R, 3 * C}, op, "x");
  expect_contiguous(y, activation_dtype(stream), {R, C}, op, "y");
}

}  // namespace

void short_conv(const Stream& stream, const ShortConvArgs& args) {
  expect_convolution(stream, args.x, args.y, args.conv, args.runs.cu_rows, "short_conv");
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::short_conv(stream, args);
  }
  cpu::short_conv(stream, args);
}

void short_conv_grad(const Stream& stream, const ShortConvGradArgs& args) {
  constexpr const char* op = "short_conv_grad";
  expect_convolution(stream, args.x, args.dy, args.conv, args.cu_rows, op);
  expect_contiguous(args.dx, activation_dtype(stream), {args.x.dim(0), args.x.dim(1)}, op, "dx");
  expect_contiguous(args.dconv, DType::kF32, {args.conv.dim(0), args.conv.dim(1)}, op, "dconv");
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::short_conv_grad(stream, args);
  }
  cpu::short_conv_grad(stream, args);
}

int64_t short_conv_scratch_bytes(const Stream& stream, int64_t rows, int64_t channels, int64_t taps) {
  if (stream.is_cuda()) return Arena::rounded(cuda::conv_sums(rows, channels, taps) * int64_t(sizeof(float)));
  const auto floats = [](int64_t n) { return Arena::rounded(n * int64_t(sizeof(float))); };
  return floats(taps * channels) + 2 * floats(rows * channels);
}

}  // namespace hone::kernels
