// NVIDIA's cublasLt, opened at run time and declared here: bench/cuda compares our kernels with it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/matmul.h"

namespace hone::kernels::cuda {

/// The products of kernels/matmul.h by cublasLt. Training and sampling never use it: it picks a kernel by the number of
/// rows, so a row's bits depend on its batch. Split sums are disabled (reduction scheme none), the workspace is the
/// caller's, and the algorithm of a shape is looked up once. Not thread-safe.
class CublasLt {
 public:
  /// `library`: a file or name; empty tries libcublasLt.so.13 and .12. `workspace`: device memory, 256-byte aligned.
  /// Throws kUnsupported, naming what cannot be opened or which symbol is missing, and what to install.
  CublasLt(void* workspace, int64_t workspace_bytes, const std::string& library = "");
  ~CublasLt();

  int64_t version() const;  // 130101 is 13.1.1

  /// As kernels::linear, without a bias (kUnsupported); bf16 weights. Throws kUnsupported if the library has no algorithm
  /// for the shape, kCuda for any other status.
  void linear(const Stream& stream, const LinearArgs& args);
  /// As kernels::linear_grad_weight, without dbias (kUnsupported).
  void linear_grad_weight(const Stream& stream, const LinearGradWeightArgs& args);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hone::kernels::cuda
