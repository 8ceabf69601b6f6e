// Gradients of all trained tensors, not sharded.
#pragma once

#include <optional>

#include "core/arena.h"
#include "model/network.h"
#include "model/parameters.h"

namespace hone::trainer {

/// Gradients of all parameters, or of the adapters only. Allocated on first use, since scoring and publishing
/// need none.
class TrainedGradients {
 public:
  /// adapters: the trained adapters, or null if all parameters are trained. All arguments must outlive this
  /// object.
  TrainedGradients(const Stream& stream, const model::ModelConfig& config, const model::Adapters* adapters)
      : stream_(stream), config_(config), adapters_(adapters) {}

  /// Returns the gradients; allocates them first if needed. Throws kOutOfMemory.
  model::TensorBlock& block();
  /// The gradients as the targets of a backward.
  model::Gradients views();

 private:
  const Stream& stream_;
  const model::ModelConfig& config_;
  const model::Adapters* adapters_;
  std::optional<model::Parameters> all_;
  std::optional<model::TensorBlock> of_adapters_;
  Arena unused_;  // written by kernels as the gradients of frozen norms; never read
};

}  // namespace hone::trainer
