#include "kernels/matmul.h"

#include "kernels/cpu/matmul.h"
#include "kernels/cpu/matmul_block.h"
#include "kernels/cuda/matmul.h"

namespace hone::kernels {
namespace {

void expect_packed(const PackedMatrix& w, const char* op) {
  if (w.n < 0 || w.k < 0) fail(Code::kShape, "%s: w is [%lld, %lld].", op, (long long)w.n, (long long)w.k);
  if (w.storage != DType::kF32 && w.storage != DType::kBF16) {
    fail(Code::kShape, "%s: w is packed as %s; f32 and bf16 are the storages there are.", op, dtype_name(w.storage));
  }
  if (w.arithmetic == Arithmetic::kBF16 && w.storage != DType::kBF16) {
    fail(Code::kShape, "%s: w is packed as %s; bf16 arithmetic needs bf16.", op, dtype_name(w.storage));
  }
  if (!w.panels && w.n * w.k > 0) {
    fail(Code::kShape, "%s: w [%lld, %lld] has no panels; pack_matrix first.", op, (long long)w.n, (long long)w.k);
  }
}

void expect_multipliable(const Stream& stream, const PackedMatrix& w, const char* op) {
  expect_packed(w, op);
  if (stream.is_cuda() && w.storage != DType::kBF16) {
    fail(Code::kShape, "%s: w is packed as %s; on CUDA it must be bf16.", op, dtype_name(w.storage));
  }
  if (!stream.is_cuda() && w.transposed && w.arithmetic != Arithmetic::kF32) {
    fail(Code::kShape, "%s: w is marked transposed; on the CPU, products in bf16 need pack_matrix to transpose it.", op);
  }
}

}  // namespace

const char* arithmetic_name(Arithmetic arithmetic) { return arithmetic == Arithmetic::kBF16 ? "bf16" : "f32"; }

int64_t packed_bytes(const Stream& stream, int64_t n, int64_t k, DType storage) {
  if (stream.is_cuda()) return n * k * dtype_bytes(storage);
  const int64_t depth = storage == DType::kBF16 ? k + k % 2 : k;  // bf16 values may be stored in pairs
  return (n + cpu::kPanel - 1) / cpu::kPanel * cpu::kPanel * depth * dtype_bytes(storage);
}

void pack_matrix(const Stream& stream, const PackMatrixArgs& args) {
  expect_packed(args.out, "pack_matrix");
  const int64_t n = args.out.n, k = args.out.k;
  if (args.transpose) expect(args.w, DType::kF32, {k, n}, "pack_matrix", "w");
  else expect(args.w, DType::kF32, {n, k}, "pack_matrix", "w");
  if (stream.is_cuda() && args.out.transposed != args.transpose) {
    fail(Code::kUnsupported, "pack_matrix: on CUDA w is not turned round; set out.transposed to transpose.");
  }
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::pack_matrix(stream, args);
  }
  cpu::pack_matrix(stream, args);
}

void transpose_packed(const Stream& stream, const PackedMatrix& from, const PackedMatrix& out) {
  expect_packed(from, "transpose_packed"), expect_packed(out, "transpose_packed");
  if (stream.is_cuda()) fail(Code::kUnsupported, "transpose_packed: on CUDA a packed matrix is read the other way round; set transposed.");
  if (from.n != out.k || from.k != out.n || from.storage != out.storage || from.arithmetic != out.arithmetic) {
    fail(Code::kShape, "transpose_packed: out is %s[%lld, %lld], which is not the transpose of %s[%lld, %lld] with the same arithmetic.",
         dtype_name(out.storage), (long long)out.n, (long long)out.k, dtype_name(from.storage), (long long)from.n, (long long)from.k);
  }
  cpu::transpose_packed(stream, from, out);
}

void linear(const Stream& stream, const LinearArgs& args) {
  expect_multipliable(stream, args.w, "linear");
  const int64_t m = args.x.dim(0), n = args.w.n, k = args.w.k;
  expect(args.x, activation_dtype(stream), {m, k}, "linear", "x");
  expect(args.y, args.y.dtype == DType::kF32 ? DType::kF32 : activation_dtype(stream), {m, n}, "linear", "y");
  if (!args.bias.empty()) expect_contiguous(args.bias, DType::kF32, {n}, "linear", "bias");
  if (m == 0 || n == 0) return;
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::linear(stream, args);
  }
  cpu::linear(stream, args);
}

int64_t linear_scratch_bytes(const Stream& stream, int64_t rows, int64_t n, int64_t k) {
  if (stream.is_cuda()) return cuda::linear_scratch_bytes(rows, n, k);
  return 0;
}

void linear_grad_weight(const Stream& stream, const LinearGradWeightArgs& args) {
  const int64_t m = args.dy.dim(0), n = args.dw.dim(0), k = args.dw.dim(1);
  expect(args.dy, activation_dtype(stream), {m, n}, "linear_grad_weight", "dy");
  expect(args.x, activation_dtype(stream), {m, k}, "linear_grad_weight", "x");
  expect(args.dw, DType::kF32, {n, k}, "linear_grad_weight", "dw");
  if (!args.dbias.empty()) expect_contiguous(args.dbias, DType::kF32, {n}, "linear_grad_weight", "dbias");
  if (m == 0 || n == 0) return;
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::linear_grad_weight(stream, args);
  }
  cpu::linear_grad_weight(stream, args);
}

}  // namespace hone::kernels
