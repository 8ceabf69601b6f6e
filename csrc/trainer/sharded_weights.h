// Weights that ranks may shard: checks that all ranks have equal weights, and tracks whether this rank holds
// all of them.
#pragma once

#include <optional>

#include "dist/communicator.h"
#include "model/tensor_block.h"
#include "trainer/config.h"
#include "trainer/shard_exchange.h"
#include "trainer/shard_layout.h"
#include "trainer/weight_window.h"

namespace hone::trainer {

/// A block of weights. Without divide(), every rank always holds all of it. After divide(), a rank holds all
/// of it only from written() or fetch() until settle(); otherwise it holds its shard of the layers and
/// everything outside of layers.
class ShardedWeights {
 public:
  /// All arguments must outlive this object.
  ShardedWeights(model::TensorBlock& block, const ShardLayout& layout, ShardExchange& exchange, dist::Communicator& ranks)
      : block_(block), layout_(layout), exchange_(exchange), ranks_(ranks) {}
  /// Shards the weights of layers from now on. Throws kOutOfMemory.
  void divide(const WeightWindow::Source& source, const Stream& stream, const TrainerConfig& config);

  /// Gathers weights layer by layer during a pass; null unless weights are sharded.
  WeightWindow* window() { return window_ ? &*window_ : nullptr; }
  /// Must be called after all weights were written.
  void written();
  /// Gathers the weights that other ranks own, so that this rank holds all. A collective, unless it holds all
  /// already.
  void fetch();
  /// After written(), compares the weights of all ranks; then drops the layers' weights that other ranks own.
  /// A collective if weights were written or fetched. Throws kState naming a rank with different weights.
  /// what: name of the call in messages.
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
