#include "kernels/swiglu.h"

#include "kernels/cpu/rows.h"
#include "kernels/cuda/rows.h"

namespace hone::kernels {

void swiglu(const Stream& stream, const SwigluArgs& args) {
  const int64_t rows = args.y.dim(0), width = args.y.dim(1);
  expect(args.gate_up, activation_dtype(stream), {rows, 2 * width}, "swiglu", "gate_up");
  expect(args.y, activation_dtype(stream), {rows, width}, "swiglu", "y");
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::swiglu(stream, args);
  }
  cpu::swiglu(stream, args);
}

void swiglu_grad(const Stream& stream, const SwigluGradArgs& args) {
  const int64_t rows = args.dy.dim(0), width = args.dy.dim(1);
  expect(args.gate_up, activation_dtype(stream), {rows, 2 * width}, "swiglu_grad", "gate_up");
  expect(args.dy, activation_dtype(stream), {rows, width}, "swiglu_grad", "dy");
  expect(args.dgate_up, activation_dtype(stream), {rows, 2 * width}, "swiglu_grad", "dgate_up");
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::swiglu_grad(stream, args);
  }
  cpu::swiglu_grad(stream, args);
}

}  // namespace hone::kernels
