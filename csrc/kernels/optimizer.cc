#include "kernels/optimizer.h"

#include "kernels/cpu/optimizer.h"
#include "kernels/cuda/optimizer.h"

namespace hone::kernels {
namespace {

/// Checks packed copies: on a GPU, but not on the CPU, they have the parameters' order of elements.
void expect_packed(const Stream& stream, const TensorView& packed, int64_t n, const char* op) {
  if (packed.empty()) return;
  if (!stream.is_cuda()) fail(Code::kInternal, "%s: packed weights are written on a GPU only.", op);
  expect_contiguous(packed, packed.dtype == DType::kBF16 ? DType::kBF16 : DType::kF32, {n}, op, "packed");
}

}  // namespace

double sum_of_squares(const Stream& stream, const TensorView& x) {
  expect_contiguous(x, DType::kF32, {x.dim(0)}, "sum_of_squares", "x");
  if (stream.is_cuda()) fail(Code::kInternal, "sum_of_squares: on a GPU the total stays there; pass SumOfSquaresArgs.");
  return cpu::sum_of_squares(stream, x);
}

void sum_of_squares(const Stream& stream, const SumOfSquaresArgs& args) {
  expect_contiguous(args.x, DType::kF32, {args.x.dim(0)}, "sum_of_squares", "x");
  expect_contiguous(args.total, DType::kF64, {1}, "sum_of_squares", "total");
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::sum_of_squares(stream, args);
  }
  double& total = *args.total.as<double>();
  total = (args.accumulate ? total : 0.0) + cpu::sum_of_squares(stream, args.x);
}

int64_t sum_of_squares_scratch_bytes(const Stream& stream, int64_t n) {
  if (stream.is_cuda()) return cuda::strip_bytes(n);
  return 0;
}

void gradient_scale(const Stream& stream, const GradientScaleArgs& args) {
  expect_contiguous(args.totals, DType::kF64, {args.totals.dim(0)}, "gradient_scale", "totals");
  expect_contiguous(args.scale, DType::kF32, {1}, "gradient_scale", "scale");
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::gradient_scale(stream, args);
  }
  cpu::gradient_scale(args);
}

int64_t adamw_scratch_bytes(const Stream& stream, int64_t n) {
  if (stream.is_cuda()) return cuda::strip_bytes(n);
  return cpu::adamw_scratch_bytes();
}

void adamw(const Stream& stream, const AdamWArgs& args) {
  const int64_t n = args.param.dim(0);
  expect_contiguous(args.param, DType::kF32, {n}, "adamw", "param");
  const DType moments = args.m.dtype == DType::kBF16 ? DType::kBF16 : DType::kF32;
  expect_contiguous(args.m, moments, {n}, "adamw", "m");
  expect_contiguous(args.v, moments, {n}, "adamw", "v");
  expect_contiguous(args.grad, DType::kF32, {n}, "adamw", "grad");
  if (args.step < 1) fail(Code::kInternal, "adamw: step is %lld; it counts from 1.", (long long)args.step);
  if (!args.scale.empty()) expect_contiguous(args.scale, DType::kF32, {1}, "adamw", "scale");
  if (!args.squared_change.empty()) {
    expect_contiguous(args.squared_change, DType::kF64, {1}, "adamw", "squared_change");
    if (!args.scratch) fail(Code::kInternal, "adamw: squared_change needs scratch.");
  }
  expect_packed(stream, args.packed, n, "adamw");
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::adamw(stream, args);
  }
  cpu::adamw(stream, args);
}

void muon(const Stream& stream, const MuonArgs& args) {
  const int64_t r = args.param.dim(0), c = args.param.dim(1);
  expect_contiguous(args.param, DType::kF32, {r, c}, "muon", "param");
  expect_contiguous(args.momentum_buffer, DType::kF32, {r, c}, "muon", "momentum_buffer");
  expect_contiguous(args.grad, DType::kF32, {r, c}, "muon", "grad");
  if (!args.scale.empty()) expect_contiguous(args.scale, DType::kF32, {1}, "muon", "scale");
  if (!args.squared_change.empty()) expect_contiguous(args.squared_change, DType::kF64, {1}, "muon", "squared_change");
  expect_packed(stream, args.packed, r * c, "muon");
  if (r == 0 || c == 0) return;
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::muon(stream, args);
  }
  cpu::muon(stream, args);
}

int64_t muon_scratch_bytes(const Stream& stream, int64_t rows, int64_t columns) {
  if (stream.is_cuda()) return cuda::muon_scratch_bytes(rows, columns);
  return cpu::muon_scratch_bytes(rows, columns);
}

}  // namespace hone::kernels
