#include "kernels/router_loss.h"

#include "kernels/cpu/router_loss.h"
#include "kernels/cuda/experts.h"

namespace hone::kernels {

void router_loss(const Stream& stream, const RouterLossArgs& args) {
  constexpr const char* op = "router_loss";
  const int64_t R = args.logits.dim(0), E = args.logits.dim(1);
  expect_contiguous(args.logits, DType::kF32, {R, E}, op, "logits");
  expect_contiguous(args.experts, DType::kI32, {R, args.experts.dim(1)}, op, "experts");
  expect_contiguous(args.starts, DType::kI32, {args.starts.dim(0)}, op, "starts");
  expect_contiguous(args.dlogits, DType::kF32, {R, E}, op, "dlogits");
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::router_loss(stream, args);
  }
  const int32_t* const starts = args.starts.as<int32_t>();
  const int64_t S = args.starts.dim(0) - 1;
  if (starts[0] != 0 || starts[S] != R) fail(Code::kShape, "%s: starts go from %d to %d; there are %lld rows.", op, starts[0], starts[S], (long long)R);
  cpu::router_loss(stream, args);
}

}  // namespace hone::kernels
