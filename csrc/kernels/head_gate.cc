#include "kernels/head_gate.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/rows.h"
#include "kernels/cuda/head_gate.h"

namespace hone::kernels {
namespace {

void expect_heads(const Stream& stream, const GatedHeads& a, const char* op) {
  const int64_t rows = a.joined.dim(0), q = a.gates.dim(1), rest = a.heads.dim(1) - q;
  const DType type = activation_dtype(stream);
  expect(a.joined, type, {rows, 2 * q + rest}, op, "joined");
  expect(a.heads, type, {rows, q + rest}, op, "heads");
  expect(a.gates, type, {rows, q}, op, "gates");
}

/// Calls move(address in the joined row, address in heads or gates, bytes) for every part of every row.
template <class Move>
void for_parts(const Stream& stream, const GatedHeads& a, const Move& move) {
  const int64_t rows = a.joined.dim(0), q = a.gates.dim(1), rest = a.heads.dim(1) - q, D = a.head_dim;
  const size_t bytes = size_t(D) * sizeof(float);
  stream.parallel_for(rows, std::max<int64_t>(1, 32768 / (2 * q + rest)), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      float *joined = a.joined.row<float>(r), *heads = a.heads.row<float>(r), *gates = a.gates.row<float>(r);
      for (int64_t i = 0; i < q; i += D) {
        move(joined + 2 * i, heads + i, bytes);
        move(joined + 2 * i + D, gates + i, bytes);
      }
      move(joined + 2 * q, heads + q, size_t(rest) * sizeof(float));
    }
  });
}

}  // namespace

void split_gated_heads(const Stream& stream, const GatedHeads& args) {
  expect_heads(stream, args, "split_gated_heads");
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::split_gated_heads(stream, args);
  }
  for_parts(stream, args, [](float* joined, float* part, size_t bytes) { std::memcpy(part, joined, bytes); });
}

void join_gated_heads(const Stream& stream, const GatedHeads& args) {
  expect_heads(stream, args, "join_gated_heads");
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::join_gated_heads(stream, args);
  }
  for_parts(stream, args, [](float* joined, float* part, size_t bytes) { std::memcpy(joined, part, bytes); });
}

void head_gate(const Stream& stream, const HeadGateArgs& args) {
  const int64_t rows = args.y.dim(0), width = args.y.dim(1);
  for (const TensorView* view : {&args.x, &args.gate, &args.y}) expect(*view, activation_dtype(stream), {rows, width}, "head_gate", "a matrix");
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::head_gate(stream, args);
  }
  cpu::head_gate(stream, args);
}

void head_gate_grad(const Stream& stream, const HeadGateGradArgs& args) {
  const int64_t rows = args.dy.dim(0), width = args.dy.dim(1);
  for (const TensorView* view : {&args.x, &args.gate, &args.dy, &args.dx, &args.dgate}) {
    expect(*view, activation_dtype(stream), {rows, width}, "head_gate_grad", "a matrix");
  }
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::head_gate_grad(stream, args);
  }
  cpu::head_gate_grad(stream, args);
}

void row_gate(const Stream& stream, const RowGateArgs& args) {
  const int64_t rows = args.x.dim(0);
  expect_contiguous(args.gate, DType::kF32, {rows, 1}, "row_gate", "gate");
  expect(args.x, activation_dtype(stream), {rows, args.x.dim(1)}, "row_gate", "x");
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::row_gate(stream, args);
  }
  cpu::row_gate(stream, args);
}

void row_gate_grad(const Stream& stream, const RowGateGradArgs& args) {
  const int64_t rows = args.x.dim(0), width = args.x.dim(1);
  for (const TensorView* view : {&args.gate, &args.dgate}) expect_contiguous(*view, DType::kF32, {rows, 1}, "row_gate_grad", "a column");
  for (const TensorView* view : {&args.gated, &args.x}) expect(*view, activation_dtype(stream), {rows, width}, "row_gate_grad", "a matrix");
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::row_gate_grad(stream, args);
  }
  cpu::row_gate_grad(stream, args);
}

}  // namespace hone::kernels
