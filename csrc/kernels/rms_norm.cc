#include "kernels/rms_norm.h"

#include "kernels/cpu/rows.h"

namespace hone::kernels {

void rms_norm(const Stream& stream, const RmsNormArgs& args) {
  const int64_t rows = args.x.dim(0), width = args.weight.dim(0);
  expect(args.x, DType::kF32, {rows, width}, "rms_norm", "x");
  expect_contiguous(args.weight, DType::kF32, {width}, "rms_norm", "weight");
  expect(args.y, DType::kF32, {rows, width}, "rms_norm", "y");
  cpu::rms_norm(stream, args);
}

void rms_norm_grad(const Stream& stream, const RmsNormGradArgs& args) {
  const int64_t rows = args.x.dim(0), width = args.weight.dim(0);
  expect(args.x, DType::kF32, {rows, width}, "rms_norm_grad", "x");
  expect_contiguous(args.weight, DType::kF32, {width}, "rms_norm_grad", "weight");
  expect(args.dy, DType::kF32, {rows, width}, "rms_norm_grad", "dy");
  expect(args.dx, DType::kF32, {rows, width}, "rms_norm_grad", "dx");
  expect_contiguous(args.dweight, DType::kF32, {width}, "rms_norm_grad", "dweight");
  cpu::rms_norm_grad(stream, args);
}

}  // namespace hone::kernels
