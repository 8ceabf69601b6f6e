// Named tensors in one memory block: parameters, adapters, their gradients, optimizer moments.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/arena.h"
#include "core/stream.h"
#include "core/tensor.h"
#include "core/thread_pool.h"
#include "model/config.h"

namespace hone::model {

// Alignment, in f32 elements, of tensors: a cache line. Tensors used as one matrix (q, k, v; gate, up) follow
// each other without gaps, and only the first is aligned.
constexpr int64_t kTensorAlignment = 16;

/// One named tensor, in the order of the block. Names are those of Hugging Face files
/// ("model.layers.0.self_attn.q_proj.weight"). q, k, v of a layer are contiguous, and so are gate and up, so
/// that each group is one matrix. Gaps of up to 15 elements align the other tensors to cache lines; gaps stay
/// zero.
struct TensorSpec {
  std::string name;
  std::vector<int64_t> shape;  // [R, C], [C], or [C, 1, taps] of a convolution
  int64_t offset = 0;          // in elements
  // a 2-D weight of a layer (the kind that Muon optimizes): not embedding, head, norm or bias
  bool matrix = false;
  int64_t numel() const;
};
/// Elements of a block with these specs, including the gap after the last tensor.
int64_t total_elements(const std::vector<TensorSpec>& specs);

/// Owns one zeroed block of f32, or of bf16 (for moments and weights that are only read), laid out by
/// `specs`. On the CPU, pages that were never written take no physical memory. Movable, not copyable.
class TensorBlock {
 public:
  /// Allocates in the memory of `stream`, which performs the copies and must outlive the block. config: the
  /// model to which the tensors belong.
  TensorBlock(const ModelConfig& config, std::vector<TensorSpec> specs, const Stream& stream, DType dtype = DType::kF32)
      : TensorBlock(config, std::move(specs), stream, dtype, tensor_memory(stream)) {}
  /// Allocates in `memory`, which the stream must be able to copy from and to.
  TensorBlock(const ModelConfig& config, std::vector<TensorSpec> specs, const Stream& stream, DType dtype, Memory memory);

  DType dtype() const { return dtype_; }
  Memory memory() const { return arena_.memory(); }
  const ModelConfig& config() const { return config_; }
  const std::vector<TensorSpec>& specs() const { return specs_; }
  TensorView view(const TensorSpec& spec) const;
  /// Throws kFormat naming the tensor if the block has none of that name.
  TensorView view(const std::string& name) const;
  bool has(const std::string& name) const;
  /// The whole block as one vector [n], for norms and the optimizer.
  TensorView flat() const;
  void zero();
  /// Sets elements [offset, offset + count) to zero; whole pages of host memory in that range take no
  /// physical memory until they are written.
  void discard(int64_t offset, int64_t count);

  /// Converts a block in CPU memory to bf16, or back to f32, in new memory: earlier views become invalid.
  /// Returns false and changes nothing if bf16 cannot represent a value exactly.
  bool store_as(DType dtype);

  /// Calls `fill` with host memory for one of the block's tensors: the tensor itself, or, for a block on a
  /// device, uninitialised memory that is copied to the device when `fill` returns.
  void write(const TensorView& tensor, const std::function<void(const TensorView& host)>& fill);
  /// One of the block's tensors in host memory: the tensor itself, or a copy that takes staging_bytes(tensor)
  /// from `staging`.
  TensorView read(const TensorView& tensor, Arena& staging) const;
  int64_t staging_bytes(const TensorView& tensor) const;
  /// Copies one of the block's tensors to host memory.
  void copy(const TensorView& tensor, void* host, ThreadPool* pool) const;

 protected:
  const Stream& stream() const { return stream_; }
  void* base() const { return base_; }

 private:
  ModelConfig config_;
  Stream stream_;
  std::vector<TensorSpec> specs_;
  Arena arena_;
  DType dtype_;
  void* base_ = nullptr;
};

}  // namespace hone::model
