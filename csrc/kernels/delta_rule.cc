#include "kernels/delta_rule.h"

#include "kernels/cpu/delta_rule.h"

namespace hone::kernels {
namespace {

void expect_weights(const DeltaWeights& w, const DeltaSizes& s, const char* op) {
  expect_contiguous(w.conv, DType::kF32, {s.channels(), s.taps}, op, "conv");
  expect_contiguous(w.decay, DType::kF32, {s.value_heads}, op, "decay");
  expect_contiguous(w.dt, DType::kF32, {s.value_heads}, op, "dt");
  expect_contiguous(w.norm, DType::kF32, {s.value_dim}, op, "norm");
}

void expect_rows(const Stream& stream, const TensorView& x, const TensorView& y, const TensorView& cu_rows, const DeltaSizes& s,
                 const char* op) {
  if (stream.is_cuda()) fail(Code::kUnsupported, "%s: only the CPU has it.", op);
  const int64_t R = x.dim(0);
  expect_contiguous(x, DType::kF32, {R, s.inputs()}, op, "x");
  expect_contiguous(y, DType::kF32, {R, s.values()}, op, "y");
  expect_contiguous(cu_rows, DType::kI32, {cu_rows.dim(0)}, op, "cu_rows");
  const int32_t* cu = cu_rows.as<int32_t>();
  const int64_t last = cu_rows.dim(0) - 1;
  if (last < 1 || cu[0] != 0 || cu[last] != R) {
    fail(Code::kShape, "%s: cu_rows must begin with 0 and end with the number of rows, %lld.", op, (long long)R);
  }
}

}  // namespace

void delta_rule(const Stream& stream, const DeltaRuleArgs& args) {
  expect_rows(stream, args.x, args.y, args.runs.cu_rows, args.sizes, "delta_rule");
  expect_weights(args.weights, args.sizes, "delta_rule");
  cpu::delta_rule(stream, args);
}

void delta_rule_grad(const Stream& stream, const DeltaRuleGradArgs& args) {
  constexpr const char* op = "delta_rule_grad";
  expect_rows(stream, args.x, args.dy, args.cu_rows, args.sizes, op);
  expect_contiguous(args.dx, DType::kF32, {args.x.dim(0), args.sizes.inputs()}, op, "dx");
  expect_weights(args.weights, args.sizes, op);
  expect_weights(args.dweights, args.sizes, op);
  cpu::delta_rule_grad(stream, args);
}

int64_t delta_rule_scratch_bytes(int64_t rows, const DeltaSizes& s) {
  const auto floats = [](int64_t n) { return Arena::rounded(n * int64_t(sizeof(float))); };
  return floats(s.taps * s.channels()) + 2 * floats(rows * s.channels()) + 2 * floats(rows * 2 * s.value_heads);
}

}  // namespace hone::kernels
