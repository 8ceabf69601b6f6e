// The whole gradients of the trained tensors.
#pragma once

#include <optional>

#include "core/arena.h"
#include "model/network.h"
#include "model/parameters.h"

namespace hone::trainer {

/// Gradients of all parameters, or of the adapters only. Allocated on first use: scoring and publishing need none.
class TrainedGradients {
 public:
  /// adapters: those that are trained, or null. All must outlive this.
  TrainedGradients(const Stream& stream, const model::ModelConfig& config, const model::Adapters* adapters)
      : stream_(stream), config_(config), adapters_(adapters) {}

  /// Throws kOutOfMemory.
  model::TensorBlock& block();
  /// Where a backward adds gradients.
  model::Gradients views();

 private:
  const Stream& stream_;
  const model::ModelConfig& config_;
  const model::Adapters* adapters_;
  std::optional<model::Parameters> all_;
  std::optional<model::TensorBlock> of_adapters_;
  Arena unused_;  // gradients of frozen norms, discarded
};

}  // namespace hone::trainer
