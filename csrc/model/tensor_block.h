// Named tensors in one block: parameters, adapters, their gradients, optimizer moments.
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

// Groups that are used as one matrix (q, k, v; gate, up) start on a cache line; inside they are seamless.
constexpr int64_t kTensorAlignment = 16;

/// One named tensor in arena order. Names are the architecture's in Hugging Face files ("model.layers.0.self_attn.q_proj.weight").
/// q, k, v of a layer lie side by side, as do gate and up, so that each trio/pair is one matrix. Gaps of up to
/// 15 elements between the others keep them on cache lines; they stay zero.
struct TensorSpec {
  std::string name;
  std::vector<int64_t> shape;  // [R, C], [C], or [C, 1, taps] of a convolution
  int64_t offset = 0;          // in elements
  bool matrix = false;         // a 2-D block weight (Muon's kind): not embedding, head, norm or bias
  int64_t numel() const;
};
/// Elements of a block with these specs, the last gap included.
int64_t total_elements(const std::vector<TensorSpec>& specs);

/// Owns one zeroed block of f32, or of bf16 (moments, weights that are only read), laid out by `specs`. On
/// the CPU unwritten pages take no memory. Movable, not copyable.
class TensorBlock {
 public:
  /// In the memory of `stream`, which does its copies and must outlive it. config: of the model they belong to.
  TensorBlock(const ModelConfig& config, std::vector<TensorSpec> specs, const Stream& stream, DType dtype = DType::kF32)
      : TensorBlock(config, std::move(specs), stream, dtype, tensor_memory(stream)) {}
  /// In `memory`, which the stream's copies must reach.
  TensorBlock(const ModelConfig& config, std::vector<TensorSpec> specs, const Stream& stream, DType dtype, Memory memory);

  DType dtype() const { return dtype_; }
  Memory memory() const { return arena_.memory(); }
  const ModelConfig& config() const { return config_; }
  const std::vector<TensorSpec>& specs() const { return specs_; }
  TensorView view(const TensorSpec& spec) const;
  /// Throws kFormat naming the tensor if there is none of that name.
  TensorView view(const std::string& name) const;
  bool has(const std::string& name) const;
  /// Everything as one vector [n], for norms and the optimizer.
  TensorView flat() const;
  void zero();
  /// Elements [offset, offset + count) become zeros; in host memory whole pages of them take none until they are written.
  void discard(int64_t offset, int64_t count);

  /// Changes a block of the CPU to bf16, or back to f32, in new memory: earlier views become invalid. Returns
  /// false and changes nothing if bf16 cannot represent a value.
  bool store_as(DType dtype);

  /// Lets `fill` write one of the views above through host memory: the tensor itself, or uninitialised memory
  /// that is copied to the device when `fill` returns.
  void write(const TensorView& tensor, const std::function<void(const TensorView& host)>& fill);
  /// One of the views above in host memory: itself, or a copy that takes staging_bytes(tensor) from `staging`.
  TensorView read(const TensorView& tensor, Arena& staging) const;
  int64_t staging_bytes(const TensorView& tensor) const;
  /// Copies one of the views above to host memory.
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
