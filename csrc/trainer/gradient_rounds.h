// Rounds of micro-batches, one per rank or team: where backwards add gradients, and how these reach their owners.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "trainer/config.h"
#include "trainer/gradient_window.h"
#include "trainer/shard_exchange.h"
#include "trainer/sharded_weights.h"
#include "trainer/trained_gradients.h"

namespace hone::trainer {

/// The trained tensors: all parameters, or adapters; the other pointer is null.
struct Trained {
  model::TensorBlock& block;
  const model::Parameters* parameters;
  const model::Adapters* adapters = nullptr;
};

/// Number of row blocks whose gradients a rank keeps separate: those of a team, if the rank is alone and must give a
/// team's bits.
int blocks_alone(const Sharding& sharding, int ranks);

/// Gradients of a round's micro-batches: whole, or only a window of each if the stage divides gradients.
/// Ranks make the same calls together, whether or not they have a micro-batch.
class GradientRounds {
 public:
  struct Where {
    const Stream& stream;
    const ShardLayout& layout;
    ShardExchange& exchange;
    ShardedWeights& weights;
  };
  /// All must outlive this. Throws kOutOfMemory.
  GradientRounds(const Where& where, const Trained& trained, const Sharding& sharding, int ranks);

  bool by_layer() const { return !windows_.empty(); }
  /// Where a backward adds the gradients of each row block. `whole` is the first unless they come by layer. Throws
  /// kOutOfMemory.
  std::vector<model::Gradients> targets(TrainedGradients& whole);

  /// given: ranks with gradients, 0 .. given - 1. shard: this rank's, to which its elements are added.
  struct Round {
    int given = 0;
    float* shard = nullptr;
  };
  /// Zeroes all targets, and starts gathering weights if those are sharded.
  void begin(TrainedGradients& whole, const Round& round);
  /// Sends the round's remaining gradients to their owners, block by block.
  void end();

  /// Sum of squares of the gradients that `train` adds to the targets, if they come by layer.
  double squares(const std::function<void()>& train);

 private:
  Where where_;
  std::vector<std::unique_ptr<GradientWindow>> windows_;   // one per block
  std::vector<std::unique_ptr<TrainedGradients>> others_;  // targets of the blocks after the first, if gradients are whole
  std::vector<model::TensorBlock*> blocks_;                // targets of the current round
  Round round_;
};

}  // namespace hone::trainer
