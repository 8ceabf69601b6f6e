// Gradients of one micro-batch, held for one layer at a time and for the tensors outside of layers.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/arena.h"
#include "core/stream.h"
#include "model/network.h"
#include "trainer/shard_layout.h"

namespace hone::trainer {

/// Where a backward adds the gradients of all parameters, layer by layer. Gradients of a finished layer are
/// passed to a callback and dropped. Layers finish from the last to the first, then embedding, final norm and
/// head together.
class GradientWindow final : public model::LayerGradients {
 public:
  /// Receives the gradients of one bucket; called in the order of the layout's buckets within a layer.
  using Take = std::function<void(size_t bucket, const float* gradients)>;

  /// Allocates in the stream's memory. Parameters, whose values are not read, and layout must outlive this
  /// object. Throws kOutOfMemory.
  GradientWindow(const Stream& stream, const model::Parameters& parameters, const ShardLayout& layout);

  /// Begins a micro-batch: zeros all gradients.
  void begin(Take take);
  /// Ends a micro-batch: passes on the gradients that no backward has finished, so that every micro-batch
  /// makes the same calls.
  void end();

  model::LayerViews layer(int64_t i) override;
  void finished(int64_t i) override;
  TensorView embedding() override { return moved(parameters_.embedding()); }
  TensorView final_norm() override { return moved(parameters_.final_norm()); }
  TensorView head() override { return moved(parameters_.head()); }

 private:
  TensorView moved(TensorView view) const;
  void hand_on(int64_t layer);
  void clear_layer();

  Stream stream_;
  const model::Parameters& parameters_;
  const ShardLayout& layout_;
  Arena memory_;
  float *layer_ = nullptr, *outside_ = nullptr;
  int64_t widest_ = 0, outside_count_ = 0;  // elements of the widest layer, and outside of layers
  std::vector<float*> of_bucket_;        // address of each bucket's gradients
  int64_t next_ = -1;                    // next layer to finish; -1: the tensors outside of layers
  Take take_;
};

/// Bytes that a GradientWindow takes.
int64_t gradient_window_bytes(const ShardLayout& layout, int64_t layers);

}  // namespace hone::trainer
