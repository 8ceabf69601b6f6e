// Checks that all ranks have the same weights, and tracks which of them a rank holds.
#pragma once

#include <optional>

#include "dist/communicator.h"
#include "model/tensor_block.h"
#include "trainer/config.h"
#include "trainer/shard_exchange.h"
#include "trainer/shard_layout.h"
#include "trainer/weight_window.h"

namespace hone::trainer {

/// Tracks a block of weights: whole on every rank, or, after divide(), whole from written() or fetch() until
/// settle(), and then only the rank's shard of layers and everything outside of them.
class ShardedWeights {
 public:
  /// All must outlive this.
  ShardedWeights(model::TensorBlock& block, const ShardLayout& layout, ShardExchange& exchange, dist::Communicator& ranks)
      : block_(block), layout_(layout), exchange_(exchange), ranks_(ranks) {}
  /// Shards the weights from now on. Throws kOutOfMemory.
  void divide(const WeightWindow::Source& source, const Stream& stream, const TrainerConfig& config);

  /// Gathers weights during a pass; null unless they are sharded.
  WeightWindow* window() { return window_ ? &*window_ : nullptr; }
  /// Call after writing all weights.
  void written();
  /// Makes the block whole. A collective if it is not.
  void fetch();
  /// Compares written weights, and drops those of other ranks. A collective if something was written or fetched. Throws
  /// kState naming a rank with different weights. what: names the call in messages.
  void settle(const char* what);

 private:
  void forget_others();

  model::TensorBlock& block_;
  const ShardLayout& layout_;
  ShardExchange& exchange_;
  dist::Communicator& ranks_;
  std::optional<WeightWindow> window_;
  bool compared_ = false, whole_ = true;
};

}  // namespace hone::trainer
