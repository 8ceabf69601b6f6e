#include "kernels/parts.h"

#include "kernels/cpu/parts.h"
#include "kernels/cuda/parts.h"

namespace hone::kernels {

void add_parts(const Stream& stream, const AddPartsArgs& args) {
  const int64_t n = args.sum.dim(0);
  expect(args.parts, DType::kF32, {args.parts.dim(0), n}, "add_parts", "parts");
  expect_contiguous(args.sum, DType::kF32, {n}, "add_parts", "sum");
  if (n == 0 || args.parts.dim(0) == 0) return;
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::add_parts(stream, args);
  }
  cpu::add_parts(stream, args);
}

void block_squares(const Stream& stream, const BlockSquaresArgs& args) {
  const int64_t n = args.x.dim(0);
  expect_contiguous(args.x, DType::kF32, {n}, "block_squares", "x");
  if (!args.from.empty()) expect_contiguous(args.from, DType::kF32, {n}, "block_squares", "from");
  expect_contiguous(args.squares, DType::kF64, {(n + kSquaresBlock - 1) / kSquaresBlock}, "block_squares", "squares");
  if (n == 0) return;
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::block_squares(stream, args);
  }
  cpu::block_squares(stream, args);
}

}  // namespace hone::kernels
