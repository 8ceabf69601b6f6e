// Gradients of what a trainer trains, whole.
#pragma once

#include <optional>

#include "core/arena.h"
#include "model/network.h"
#include "model/parameters.h"

namespace hone::trainer {

/// Of all parameters, or of the adapters alone. Made when they are first asked for: scoring and publishing need none.
class TrainedGradients {
 public:
  /// adapters: those that are trained, or null. All must outlive this.
  TrainedGradients(const Stream& stream, const model::ModelConfig& config, const model::Adapters* adapters)
      : stream_(stream), config_(config), adapters_(adapters) {}

  /// Throws kOutOfMemory.
  model::TensorBlock& block();
  /// Where a backward adds them.
  model::Gradients views();

 private:
  const Stream& stream_;
  const model::ModelConfig& config_;
  const model::Adapters* adapters_;
  std::optional<model::Parameters> all_;
  std::optional<model::TensorBlock> of_adapters_;
  Arena unused_;  // what a backward says about frozen norms
};

}  // namespace hone::trainer
