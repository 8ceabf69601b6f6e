#include "kernels/rope.h"

#include "kernels/cpu/rows.h"
#include "kernels/cuda/rows.h"

namespace hone::kernels {

void rope(const Stream& stream, const RopeArgs& args) {
  const int64_t tokens = args.positions.dim(0), heads = args.x.dim(1), head_dim = args.x.dim(2);
  expect(args.x, activation_dtype(stream), {tokens, heads, head_dim}, "rope", "x");
  expect_contiguous(args.positions, DType::kI32, {tokens}, "rope", "positions");
  const int64_t turned = args.table.dim(1);
  expect(args.table, DType::kF32, {args.table.dim(0), turned}, "rope", "table");
  if (turned % 2 || turned > head_dim) {
    fail(Code::kShape, "rope: the table rotates %lld of %lld dimensions; pairs need an even number.", (long long)turned, (long long)head_dim);
  }
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::rope(stream, args);
  }
  cpu::rope(stream, args);
}

}  // namespace hone::kernels
