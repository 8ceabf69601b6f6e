#include "kernels/delta_rule.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/delta_rule.h"
#include "kernels/cuda/delta_rule.h"
#include "kernels/cuda/scratch.h"

namespace hone::kernels {
namespace {

void expect_weights(const DeltaWeights& w, const DeltaSizes& s, const char* op) {
  expect_contiguous(w.conv, DType::kF32, {s.channels(), s.taps}, op, "conv");
  expect_contiguous(w.decay, DType::kF32, {s.value_heads}, op, "decay");
  expect_contiguous(w.dt, DType::kF32, {s.value_heads}, op, "dt");
  expect_contiguous(w.norm, DType::kF32, {s.value_dim}, op, "norm");
}

void expect_rows(const Stream& stream, const TensorView& x, const TensorView& y, const DeltaSizes& s, const char* op) {
  expect_contiguous(x, activation_dtype(stream), {x.dim(0), s.inputs()}, op, "x");
  expect_contiguous(y, activation_dtype(stream), {x.dim(0), s.values()}, op, "y");
  const int64_t most = std::max(s.key_dim, s.value_dim);
  if (stream.is_cuda() && (most > kMostCudaDeltaDim || s.taps > kMostTaps)) {
    fail(Code::kUnsupported, "%s: states [%lld, %lld] and %lld taps; the CUDA kernels take at most [%lld, %lld] and %lld. Choose device \"cpu\".", op,
         (long long)s.key_dim, (long long)s.value_dim, (long long)s.taps, (long long)kMostCudaDeltaDim, (long long)kMostCudaDeltaDim, (long long)kMostTaps);
  }
}

}  // namespace

void expect_runs(const Stream& stream, const TensorView& cu_rows, int64_t rows, const char* op) {
  expect_contiguous(cu_rows, DType::kI32, {cu_rows.dim(0)}, op, "cu_rows");
  const int32_t* cu = cu_rows.as<int32_t>();
  const int64_t last = cu_rows.dim(0) - 1;
  if (stream.is_cuda() && last >= 1) return;
  if (last < 1 || cu[0] != 0 || cu[last] != rows) {
    fail(Code::kShape, "%s: cu_rows must begin with 0 and end with the number of rows, %lld.", op, (long long)rows);
  }
}

void delta_rule(const Stream& stream, const DeltaRuleArgs& args) {
  expect_runs(stream, args.runs.cu_rows, args.x.dim(0), "delta_rule");
  expect_rows(stream, args.x, args.y, args.sizes, "delta_rule");
  expect_weights(args.weights, args.sizes, "delta_rule");
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::delta_rule(stream, args);
  }
  cpu::delta_rule(stream, args);
}

void delta_rule_grad(const Stream& stream, const DeltaRuleGradArgs& args) {
  constexpr const char* op = "delta_rule_grad";
  expect_runs(stream, args.cu_rows, args.x.dim(0), op);
  expect_rows(stream, args.x, args.dy, args.sizes, op);
  expect_contiguous(args.dx, activation_dtype(stream), {args.x.dim(0), args.sizes.inputs()}, op, "dx");
  expect_weights(args.weights, args.sizes, op);
  expect_weights(args.dweights, args.sizes, op);
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::delta_rule_grad(stream, args);
  }
  cpu::delta_rule_grad(stream, args);
}

namespace {

/// Calls move(offset in a row ordered by head, offset in a row ordered by kind, number of floats) for every
/// run of columns.
template <class Move>
void for_runs(const DeltaSizes& s, const Move& move) {
  const int64_t share = s.value_heads / s.key_heads, values = share * s.value_dim, group = 2 * s.key_dim + 2 * values;
  const int64_t gates = s.channels() + s.values();
  for (int64_t h = 0; h < s.key_heads; ++h) {
    const int64_t from = h * group, from_gates = gates + h * 2 * share;
    move(from, h * s.key_dim, s.key_dim);
    move(from + s.key_dim, s.keys() + h * s.key_dim, s.key_dim);
    move(from + 2 * s.key_dim, 2 * s.keys() + h * values, values);
    move(from + 2 * s.key_dim + values, s.channels() + h * values, values);
    move(from_gates, gates + h * share, share);
    move(from_gates + share, gates + s.value_heads + h * share, share);
  }
}

void expect_columns(const Stream& stream, const DeltaColumns& a, const char* op) {
  for (const TensorView* view : {&a.by_head, &a.by_kind}) expect(*view, activation_dtype(stream), {a.by_kind.dim(0), a.sizes.inputs()}, op, "columns");
}

template <class Move>
void for_rows(const Stream& stream, const DeltaColumns& a, const Move& move) {
  stream.parallel_for(a.by_kind.dim(0), std::max<int64_t>(1, 32768 / a.sizes.inputs()), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      float *const head = a.by_head.row<float>(r), *const kind = a.by_kind.row<float>(r);
      for_runs(a.sizes, [&](int64_t h, int64_t k, int64_t n) { move(head + h, kind + k, size_t(n) * sizeof(float)); });
    }
  });
}

}  // namespace

void delta_columns_by_kind(const Stream& stream, const DeltaColumns& args) {
  expect_columns(stream, args, "delta_columns_by_kind");
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::delta_columns_by_kind(stream, args);
  }
  for_rows(stream, args, [](const float* head, float* kind, size_t bytes) { std::memcpy(kind, head, bytes); });
}

void delta_columns_by_head(const Stream& stream, const DeltaColumns& args) {
  expect_columns(stream, args, "delta_columns_by_head");
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::delta_columns_by_head(stream, args);
  }
  for_rows(stream, args, [](float* head, const float* kind, size_t bytes) { std::memcpy(head, kind, bytes); });
}

namespace {

int64_t host_scratch_bytes(int64_t rows, const DeltaSizes& s) {
  const auto floats = [](int64_t n) { return Arena::rounded(n * int64_t(sizeof(float))); };
  return floats(s.taps * s.channels()) + 2 * floats(rows * s.channels()) + 2 * floats(rows * 2 * s.value_heads);
}

}  // namespace

int64_t delta_rule_scratch_bytes(const Stream& stream, int64_t rows, const DeltaSizes& s) {
  return stream.is_cuda() ? cuda::delta_rule_scratch_bytes(rows, s) : host_scratch_bytes(rows, s);
}

int64_t delta_rule_grad_scratch_bytes(const Stream& stream, int64_t rows, const DeltaSizes& s) {
  return stream.is_cuda() ? cuda::delta_rule_grad_scratch_bytes(rows, s) : host_scratch_bytes(rows, s);
}

}  // namespace hone::kernels
