#include "kernels/optimizer.h"

#include <algorithm>

#include "kernels/cpu/optimizer.h"
#include "kernels/matmul.h"

namespace hone::kernels {

double sum_of_squares(const Stream& stream, const TensorView& x) {
  expect_contiguous(x, DType::kF32, {x.dim(0)}, "sum_of_squares", "x");
  return cpu::sum_of_squares(stream, x);
}

void adamw(const Stream& stream, const AdamWArgs& args) {
  const int64_t n = args.param.dim(0);
  expect_contiguous(args.param, DType::kF32, {n}, "adamw", "param");
  expect_contiguous(args.m, DType::kF32, {n}, "adamw", "m");
  expect_contiguous(args.v, DType::kF32, {n}, "adamw", "v");
  expect_contiguous(args.grad, DType::kF32, {n}, "adamw", "grad");
  if (args.step < 1) fail(Code::kInternal, "adamw: step is %lld; it counts from 1.", (long long)args.step);
  cpu::adamw(stream, args);
}

void muon(const Stream& stream, const MuonArgs& args) {
  const int64_t r = args.param.dim(0), c = args.param.dim(1);
  expect_contiguous(args.param, DType::kF32, {r, c}, "muon", "param");
  expect_contiguous(args.momentum_buffer, DType::kF32, {r, c}, "muon", "momentum_buffer");
  expect_contiguous(args.grad, DType::kF32, {r, c}, "muon", "grad");
  if (r == 0 || c == 0) return;
  cpu::muon(stream, args);
}

int64_t muon_scratch_bytes(int64_t rows, int64_t columns) {
  const int64_t r = std::min(rows, columns), c = std::max(rows, columns);
  const int64_t panels = std::max(packed_bytes({}, r, c, DType::kF32), packed_bytes({}, c, r, DType::kF32));
  return 2 * Arena::rounded(r * c * 4) + 2 * Arena::rounded(r * r * 4) + Arena::rounded(panels);
}

}  // namespace hone::kernels
