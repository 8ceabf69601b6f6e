#include "kernels/rms_norm.h"

#include "kernels/cpu/rows.h"
#include "kernels/cuda/rows.h"

namespace hone::kernels {
namespace {

void expect_rows(const TensorView& view, const TensorView& like, DType dtype, int64_t width, const char* op,
                 const char* arg) {
  if (like.rank == 3) expect(view, dtype, {like.dim(0), like.dim(1), width}, op, arg);
  else expect(view, dtype, {like.dim(0), width}, op, arg);
}

/// The columns of head n.
TensorView head(const TensorView& view, int64_t n) {
  TensorView out = view;
  out.rank = 2;
  out.shape[1] = view.dim(2);
  out.data = view.as<float>() + n * view.dim(2);
  return out;
}

}  // namespace

void rms_norm(const Stream& stream, const RmsNormArgs& args) {
  const int64_t width = args.weight.dim(0);
  const DType activation = activation_dtype(stream);
  expect_rows(args.x, args.x, activation, width, "rms_norm", "x");
  expect_contiguous(args.weight, DType::kF32, {width}, "rms_norm", "weight");
  expect_rows(args.y, args.x, activation, width, "rms_norm", "y");
  if (args.x.numel() == 0) return;
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::rms_norm(stream, args);
  }
  if (args.x.rank == 2) return cpu::rms_norm(stream, args);
  for (int64_t n = 0; n < args.x.dim(1); ++n) {
    RmsNormArgs one = args;
    one.x = head(args.x, n);
    one.y = head(args.y, n);
    cpu::rms_norm(stream, one);
  }
}

void rms_norm_grad(const Stream& stream, const RmsNormGradArgs& args) {
  constexpr const char* op = "rms_norm_grad";
  const int64_t width = args.weight.dim(0);
  const DType activation = activation_dtype(stream);
  expect_rows(args.x, args.x, activation, width, op, "x");
  expect_contiguous(args.weight, DType::kF32, {width}, op, "weight");
  expect_rows(args.dy, args.x, activation, width, op, "dy");
  expect_rows(args.dx, args.x, activation, width, op, "dx");
  expect_contiguous(args.dweight, DType::kF32, {width}, op, "dweight");
  if (args.x.numel() == 0) return;
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) {
      if (!args.scratch) fail(Code::kInternal, "%s: no scratch.", op);
      return cuda::rms_norm_grad(stream, args);
    }
  }
  if (args.x.rank == 2) return cpu::rms_norm_grad(stream, args);
  for (int64_t n = 0; n < args.x.dim(1); ++n) {
    RmsNormGradArgs one = args;
    one.x = head(args.x, n);
    one.dy = head(args.dy, n);
    one.dx = head(args.dx, n);
    cpu::rms_norm_grad(stream, one);
  }
}

int64_t rms_norm_grad_scratch_bytes(const Stream& stream, int64_t rows, int64_t width) {
  if (stream.is_cuda()) return cuda::rms_norm_grad_scratch_bytes(rows, width);
  return 0;
}

}  // namespace hone::kernels
