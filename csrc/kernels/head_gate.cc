#include "kernels/head_gate.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/rows.h"

namespace hone::kernels {
namespace {

void expect_host(const Stream& stream, const char* op) {
  if (stream.is_cuda()) fail(Code::kUnsupported, "%s: only the CPU has it.", op);
}

/// Calls move(address in the joined row, address in heads or gates, bytes) for every part of every row.
template <class Move>
void for_parts(const Stream& stream, const GatedHeads& a, const Move& move) {
  const int64_t rows = a.joined.dim(0), q = a.gates.dim(1), rest = a.heads.dim(1) - q, D = a.head_dim;
  expect(a.joined, DType::kF32, {rows, 2 * q + rest}, "gated_heads", "joined");
  expect(a.heads, DType::kF32, {rows, q + rest}, "gated_heads", "heads");
  expect(a.gates, DType::kF32, {rows, q}, "gated_heads", "gates");
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
  expect_host(stream, "split_gated_heads");
  for_parts(stream, args, [](float* joined, float* part, size_t bytes) { std::memcpy(part, joined, bytes); });
}

void join_gated_heads(const Stream& stream, const GatedHeads& args) {
  expect_host(stream, "join_gated_heads");
  for_parts(stream, args, [](float* joined, float* part, size_t bytes) { std::memcpy(joined, part, bytes); });
}

void head_gate(const Stream& stream, const HeadGateArgs& args) {
  const int64_t rows = args.y.dim(0), width = args.y.dim(1);
  expect_host(stream, "head_gate");
  for (const TensorView* view : {&args.x, &args.gate, &args.y}) expect(*view, DType::kF32, {rows, width}, "head_gate", "a matrix");
  cpu::head_gate(stream, args);
}

void head_gate_grad(const Stream& stream, const HeadGateGradArgs& args) {
  const int64_t rows = args.dy.dim(0), width = args.dy.dim(1);
  expect_host(stream, "head_gate_grad");
  for (const TensorView* view : {&args.x, &args.gate, &args.dy, &args.dx, &args.dgate}) {
    expect(*view, DType::kF32, {rows, width}, "head_gate_grad", "a matrix");
  }
  cpu::head_gate_grad(stream, args);
}

void row_gate(const Stream& stream, const RowGateArgs& args) {
  const int64_t rows = args.x.dim(0);
  expect_host(stream, "row_gate");
  expect_contiguous(args.gate, DType::kF32, {rows, 1}, "row_gate", "gate");
  expect(args.x, DType::kF32, {rows, args.x.dim(1)}, "row_gate", "x");
  cpu::row_gate(stream, args);
}

void row_gate_grad(const Stream& stream, const RowGateGradArgs& args) {
  const int64_t rows = args.x.dim(0), width = args.x.dim(1);
  expect_host(stream, "row_gate_grad");
  for (const TensorView* view : {&args.gate, &args.dgate}) expect_contiguous(*view, DType::kF32, {rows, 1}, "row_gate_grad", "a column");
  for (const TensorView* view : {&args.gated, &args.x}) expect(*view, DType::kF32, {rows, width}, "row_gate_grad", "a matrix");
  cpu::row_gate_grad(stream, args);
}

}  // namespace hone::kernels
