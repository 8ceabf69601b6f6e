#include "kernels/mamba.h"

#include <algorithm>

#include "kernels/cpu/mamba.h"

namespace hone::kernels {
namespace {

void expect_mamba(const Stream& stream, const TensorView& x, const TensorView& y, const DeltaWeights& w, const DeltaSizes& s, const char* op) {
  if (stream.is_cuda()) fail(Code::kUnsupported, "%s: only the CPU has Mamba-2; choose device \"cpu\".", op);
  expect(x, DType::kF32, {x.dim(0), s.inputs()}, op, "x");
  expect_contiguous(y, DType::kF32, {x.dim(0), s.values()}, op, "y");
  expect_contiguous(w.conv, DType::kF32, {s.channels(), s.taps}, op, "conv");
  expect_contiguous(w.conv_bias, DType::kF32, {s.channels()}, op, "conv_bias");
  if (s.norms > 0) expect_contiguous(w.norm, DType::kF32, {s.values()}, op, "norm");
  if (s.norms > 0 && s.values() % s.norms != 0) fail(Code::kShape, "%s: %lld columns cannot be divided among %lld norms.", op, (long long)s.values(), (long long)s.norms);
  for (const TensorView* view : {&w.decay, &w.dt, &w.skip}) expect_contiguous(*view, DType::kF32, {s.value_heads}, op, "decay, dt and skip");
}

}  // namespace

void mamba(const Stream& stream, const MambaArgs& args) {
  expect_runs(stream, args.runs.cu_rows, args.x.dim(0), "mamba");
  expect_mamba(stream, args.x, args.y, args.weights, args.sizes, "mamba");
  cpu::mamba(stream, args);
}

void mamba_grad(const Stream& stream, const MambaGradArgs& args) {
  constexpr const char* op = "mamba_grad";
  expect_runs(stream, args.cu_rows, args.x.dim(0), op);
  expect_mamba(stream, args.x, args.dy, args.weights, args.sizes, op);
  expect_mamba(stream, args.dx, args.dy, args.dweights, args.sizes, op);
  cpu::mamba_grad(stream, args);
}

int64_t mamba_head_parts(const DeltaSizes& s) { return std::min<int64_t>(8, s.value_heads / s.key_heads); }

int64_t mamba_scratch_bytes(int64_t rows, const DeltaSizes& s) {
  const auto floats = [](int64_t n) { return Arena::rounded(n * int64_t(sizeof(float))); };
  return floats(s.taps * s.channels()) + 2 * floats(rows * s.channels()) + 2 * floats(rows * 2 * s.value_heads) + floats(rows * s.values()) +
         floats(mamba_head_parts(s) * rows * 2 * s.keys());
}

}  // namespace hone::kernels
