// Linear layers: y = x W^T, its gradient with respect to x (the same op with the transposed pack) and to W.
#pragma once

#include "core/arena.h"
#include "core/stream.h"
#include "core/tensor.h"

namespace hone::kernels {

/// Type of the factors of matrix products on the CPU. kBF16: both factors are rounded to bf16 (nearest even,
/// denormal numbers to 0); sums stay f32.
enum class Arithmetic : uint8_t { kF32, kBF16 };
const char* arithmetic_name(Arithmetic arithmetic);

/// A weight matrix [N, K] as the kernels read it. On the CPU: panels of 32 output columns,
/// [ceil(N/32)][K][32], zero-padded, f32 or bf16 storage; with bf16 arithmetic [ceil(N/32)][ceil(K/2)][32] pairs.
/// On CUDA: rows side by side, [N][K], or [K][N] when `transposed`, so that the matrix of dX is the same memory. On the CPU
/// a matrix that lies in rows can be read as its transpose, too: a product then copies it into panels piece by piece.
/// The layout is private to the backend; the memory belongs to the caller (packed_bytes says how much).
struct PackedMatrix {
  int64_t n = 0, k = 0;
  DType storage = DType::kF32;  // kF32 | kBF16
  void* panels = nullptr;
  bool transposed = false;  // panels hold rows [K][N] side by side; on the CPU only in products of f32 arithmetic
  Arithmetic arithmetic = Arithmetic::kF32;  // CPU only: of products with it; kBF16 needs storage kBF16
  /// CUDA only: never written by the kernel directly before a product on the same stream, as model weights are not. The
  /// product may then fetch them while that kernel still runs.
  bool prefetchable = false;
};

/// Bytes of `panels` on the stream's backend.
int64_t packed_bytes(const Stream& stream, int64_t n, int64_t k, DType storage);

/// Packs w [N, K], or the transpose of w [K, N], into `out`. Overwrites out.panels. On CUDA nothing is
/// transposed: out.transposed must equal transpose, or kUnsupported is thrown.
struct PackMatrixArgs {
  TensorView w;            // [N, K] f32 in, strided rows; [K, N] when transpose
  bool transpose = false;  // true: `out` is the pack of w^T
  PackedMatrix out;        // the caller sets n, k, storage, panels and transposed
};
void pack_matrix(const Stream& stream, const PackMatrixArgs& args);

/// Packs the transpose of a packed matrix on the CPU: `out` [K, N] from `from` [N, K], with the same storage
/// and arithmetic, and the bits that pack_matrix gives for the original matrix. Overwrites out.panels.
void transpose_packed(const Stream& stream, const PackedMatrix& from, const PackedMatrix& out);

/// y = x W^T (+ bias) (+ y if accumulate). M rows, N outputs, K inputs. Cost 2 M N K FLOP.
/// A row's bits depend neither on M, nor on its place in the batch, nor on the number of threads: each
/// element is one f32 chain of fused multiply-adds in ascending k (starting from 0, or from y if accumulate;
/// bias is added last). With bf16 arithmetic x is rounded to bf16, and denormal terms and sums of a step are
/// zeros, as in vdpbf16ps, with the same bits on every instruction set.
/// On CUDA x and w are bf16, y is bf16 or f32. The tensor cores' f32 accumulator sums k in ascending groups
/// of 16, in fixed_split_k(N, K) pieces that are added in order; then come + bias, + y, and one rounding.
/// Fast copies need 16-byte aligned rows and K a multiple of 8 (also N if transposed). Other shapes use
/// slower code with the same results; if w is laid out for wgmma and x or y^T does not fit that layout,
/// kShape is thrown.
struct LinearArgs {
  TensorView x;              // [M, K] in, strided rows: f32; bf16 on CUDA
  PackedMatrix w;            // of [N, K]
  TensorView bias;           // [N] f32 in, or empty
  TensorView y;              // [M, N] out, strided rows: f32; bf16 or f32 on CUDA
  bool accumulate = false;
  Arena* scratch = nullptr;  // linear_scratch_bytes; in use until the op has run, in stream order
};
void linear(const Stream& stream, const LinearArgs& args);
/// The largest scratch for any M <= rows. 0 on the CPU.
int64_t linear_scratch_bytes(const Stream& stream, int64_t rows, int64_t n, int64_t k);

/// dW += dy^T x and, if dbias is given, dbias += column sums of dy. Each element is one ascending chain over
/// the M rows, so that bits do not depend on the number of threads. With bf16 arithmetic dy and x are rounded
/// to bf16 as in linear; dbias sums unrounded dy. On CUDA the tensor cores' chain starts from 0 and is added
/// to dw at its end; rows must be aligned as for linear.
struct LinearGradWeightArgs {
  TensorView dy;     // [M, N] in, strided rows: f32; bf16 on CUDA
  TensorView x;      // [M, K] in, strided rows: f32; bf16 on CUDA
  TensorView dw;     // [N, K] f32 accumulated, strided rows
  TensorView dbias;  // [N] f32 accumulated, or empty
  Arithmetic arithmetic = Arithmetic::kF32;  // CPU only
};
void linear_grad_weight(const Stream& stream, const LinearGradWeightArgs& args);

}  // namespace hone::kernels
