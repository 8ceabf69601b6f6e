// NVIDIA's cublasLt, opened at run time without its headers; bench/cuda compares our kernels with it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/matmul.h"

namespace hone::kernels::cuda {

/// The products of kernels/matmul.h computed by cublasLt. Training and sampling never use it, since it
/// chooses kernels by the number of rows, so that a row's bits would depend on its batch. Split sums are
/// disabled (reduction scheme none), the caller provides the workspace, and the algorithm for a shape is
/// looked up once. Not thread-safe.
class CublasLt {
 public:
  /// `library`: a file or name; empty tries libcublasLt.so.13 and .12. `workspace`: device memory, 256-byte
  /// aligned. Throws kUnsupported if the library or a symbol is missing; the message names it and says what
  /// to install.
  CublasLt(void* workspace, int64_t workspace_bytes, const std::string& library = "");
  ~CublasLt();

  int64_t version() const;  // 130101 is 13.1.1

  /// Computes kernels::linear with bf16 weights and without a bias (kUnsupported if there is one). Throws
  /// kUnsupported if cublasLt has no algorithm for the shape, kCuda for any other failure.
  void linear(const Stream& stream, const LinearArgs& args);
  /// Computes kernels::linear_grad_weight without dbias (kUnsupported if there is one).
  void linear_grad_weight(const Stream& stream, const LinearGradWeightArgs& args);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hone::kernels::cuda
