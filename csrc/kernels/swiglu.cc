#include "kernels/swiglu.h"

#include "kernels/cpu/rows.h"

namespace hone::kernels {

void swiglu(const Stream& stream, const SwigluArgs& args) {
  const int64_t rows = args.y.dim(0), width = args.y.dim(1);
  expect(args.gate_up, DType::kF32, {rows, 2 * width}, "swiglu", "gate_up");
  expect(args.y, DType::kF32, {rows, width}, "swiglu", "y");
  cpu::swiglu(stream, args);
}

void swiglu_grad(const Stream& stream, const SwigluGradArgs& args) {
  const int64_t rows = args.dy.dim(0), width = args.dy.dim(1);
  expect(args.gate_up, DType::kF32, {rows, 2 * width}, "swiglu_grad", "gate_up");
  expect(args.dy, DType::kF32, {rows, width}, "swiglu_grad", "dy");
  expect(args.dgate_up, DType::kF32, {rows, 2 * width}, "swiglu_grad", "dgate_up");
  cpu::swiglu_grad(stream, args);
}

}  // namespace hone::kernels
