#include "kernels/swiglu.h"

#include "kernels/cpu/rows.h"
#include "kernels/cuda/matmul.h"
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

void linear_swiglu(const Stream& stream, const LinearSwigluArgs& a) {
  if constexpr (kHasCuda) {
    if (stream.is_cuda() && cuda::takes_swiglu(a)) {
      const int64_t R = a.x.dim(0), F = a.y.dim(1);
      expect(a.x, DType::kBF16, {R, a.w.k}, "linear_swiglu", "x");
      expect(a.gate_up, DType::kBF16, {R, a.w.n}, "linear_swiglu", "gate_up");
      expect(a.y, DType::kBF16, {R, a.w.n / 2}, "linear_swiglu", "y");
      if (R > 0 && F > 0) cuda::linear_swiglu(stream, a);
      return;
    }
  }
  linear(stream, {.x = a.x, .w = a.w, .bias = {}, .y = a.gate_up, .scratch = a.scratch});
  swiglu(stream, {.gate_up = a.gate_up, .y = a.y, .gelu = a.gelu});
}

void swiglu_grad(const Stream& stream, const SwigluGradArgs& args) {
  const int64_t rows = args.dy.dim(0), width = args.dy.dim(1);
  expect(args.gate_up, activation_dtype(stream), {rows, 2 * width}, "swiglu_grad", "gate_up");
  expect(args.dy, activation_dtype(stream), {rows, width}, "swiglu_grad", "dy");
  expect(args.dgate_up, activation_dtype(stream), {rows, 2 * width}, "swiglu_grad", "dgate_up");
  if (!args.y.empty()) expect(args.y, activation_dtype(stream), {rows, width}, "swiglu_grad", "y");
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) {
      if (!args.y.empty()) cuda::swiglu(stream, {.gate_up = args.gate_up, .y = args.y, .gelu = args.gelu, .limit = args.limit});
      return cuda::swiglu_grad(stream, args);
    }
  }
  cpu::swiglu_grad(stream, args);
}

}  // namespace hone::kernels
