#include "kernels/matmul.h"

#include "kernels/cpu/matmul.h"
#include "kernels/cpu/matmul_block.h"

namespace hone::kernels {
namespace {

void expect_packed(const PackedMatrix& w, const char* op) {
  if (w.n < 0 || w.k < 0) fail(Code::kShape, "%s: w is [%lld, %lld].", op, (long long)w.n, (long long)w.k);
  if (w.storage != DType::kF32 && w.storage != DType::kBF16) {
    fail(Code::kShape, "%s: w is packed as %s; f32 and bf16 are the storages there are.", op, dtype_name(w.storage));
  }
  if (!w.panels && w.n * w.k > 0) {
    fail(Code::kShape, "%s: w [%lld, %lld] has no panels; pack_matrix first.", op, (long long)w.n, (long long)w.k);
  }
}

}  // namespace

int64_t packed_bytes(const Stream& stream, int64_t n, int64_t k, DType storage) {
  if (stream.is_cuda()) return n * k * dtype_bytes(storage);
  return (n + cpu::kPanel - 1) / cpu::kPanel * cpu::kPanel * k * dtype_bytes(storage);
}

void pack_matrix(const Stream& stream, const PackMatrixArgs& args) {
  expect_packed(args.out, "pack_matrix");
  const int64_t n = args.out.n, k = args.out.k;
  if (args.transpose) expect(args.w, DType::kF32, {k, n}, "pack_matrix", "w");
  else expect(args.w, DType::kF32, {n, k}, "pack_matrix", "w");
  cpu::pack_matrix(stream, args);
}

void linear(const Stream& stream, const LinearArgs& args) {
  expect_packed(args.w, "linear");
  const int64_t m = args.x.dim(0), n = args.w.n, k = args.w.k;
  expect(args.x, DType::kF32, {m, k}, "linear", "x");
  expect(args.y, DType::kF32, {m, n}, "linear", "y");
  if (!args.bias.empty()) expect_contiguous(args.bias, DType::kF32, {n}, "linear", "bias");
  if (m == 0 || n == 0) return;
  cpu::linear(stream, args);
}

void linear_grad_weight(const Stream& stream, const LinearGradWeightArgs& args) {
  const int64_t m = args.dy.dim(0), n = args.dw.dim(0), k = args.dw.dim(1);
  expect(args.dy, DType::kF32, {m, n}, "linear_grad_weight", "dy");
  expect(args.x, DType::kF32, {m, k}, "linear_grad_weight", "x");
  expect(args.dw, DType::kF32, {n, k}, "linear_grad_weight", "dw");
  if (!args.dbias.empty()) expect_contiguous(args.dbias, DType::kF32, {n}, "linear_grad_weight", "dbias");
  if (m == 0 || n == 0) return;
  cpu::linear_grad_weight(stream, args);
}

}  // namespace hone::kernels
