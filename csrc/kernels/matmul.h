// Linear layers: y = x W^T, its gradient to x (the same op on the transposed pack) and to W.
#pragma once

#include "core/stream.h"
#include "core/tensor.h"

namespace hone::kernels {

/// A weight matrix [N, K] as the kernels read it. On the CPU: panels of 32 output columns,
/// [ceil(N/32)][K][32], zero-padded, f32 or bf16 storage (bf16 is widened on load, arithmetic stays f32).
/// On CUDA: rows side by side, [N][K], or [K][N] when `transposed`, so that the matrix of dX is the same memory.
/// The layout is private to the backend; the memory belongs to the caller (packed_bytes says how much).
struct PackedMatrix {
  int64_t n = 0, k = 0;
  DType storage = DType::kF32;  // kF32 | kBF16
  void* panels = nullptr;
  bool transposed = false;  // CUDA only: panels hold [K][N]
};

/// Bytes of `panels` on the stream's backend.
int64_t packed_bytes(const Stream& stream, int64_t n, int64_t k, DType storage);

/// Packs w [N, K] (or w [K, N] read as its transpose) into out. Overwrites out.panels.
struct PackMatrixArgs {
  TensorView w;            // [N, K] f32 in, strided rows; [K, N] when transpose
  bool transpose = false;  // true: out is the pack of w^T
  PackedMatrix out;        // n, k, storage and panels set by the caller
};
void pack_matrix(const Stream& stream, const PackMatrixArgs& args);

/// y = x W^T (+ bias) (+ y when accumulate).
/// M = rows, N = outputs, K = inputs. Cost 2 M N K FLOP. Sums in f32, one fused multiply-add chain per
/// element in ascending k (starting from 0, or from y when accumulate; bias is added last), so a row's
/// bits depend on neither M, nor its place in the batch, nor the number of threads.
struct LinearArgs {
  TensorView x;              // [M, K] f32 in, strided rows
  PackedMatrix w;            // of [N, K]
  TensorView bias;           // [N] f32 in, or empty
  TensorView y;              // [M, N] f32 out, strided rows
  bool accumulate = false;
};
void linear(const Stream& stream, const LinearArgs& args);

/// dW += dy^T x and, if dbias is given, dbias += column sums of dy.
/// One ascending chain over the M rows per element: bits do not depend on the number of threads.
struct LinearGradWeightArgs {
  TensorView dy;     // [M, N] f32 in, strided rows
  TensorView x;      // [M, K] f32 in, strided rows
  TensorView dw;     // [N, K] f32 accumulated, strided rows
  TensorView dbias;  // [N] f32 accumulated, or empty
};
void linear_grad_weight(const Stream& stream, const LinearGradWeightArgs& args);

}  // namespace hone::kernels
