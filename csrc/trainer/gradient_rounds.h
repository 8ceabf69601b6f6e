// Rounds of micro-batches, one a rank or a team of ranks: where backwards add gradients, and how these go to their owners.
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

/// What is trained; as all parameters, or as adapters, the other of which is null.
struct Trained {
  model::TensorBlock& block;
  const model::Parameters* parameters;
  const model::Adapters* adapters = nullptr;
};

/// Blocks of rows whose gradients one of so many ranks keeps apart: those of a team, where it is alone and has their bits.
int blocks_alone(const Sharding& sharding, int ranks);

/// Gradients of a round's micro-batches, whole or, by stages that divide them, a window of each. Ranks make the same calls
/// together, whether or not they have a micro-batch.
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
  /// Where a backward adds the gradients of each block of its rows. `whole` is the first unless they come by layer. Throws
  /// kOutOfMemory.
  std::vector<model::Gradients> targets(TrainedGradients& whole);

  /// given: ranks with gradients, 0 .. given - 1. shard: this rank's, to which those of its elements are added.
  struct Round {
    int given = 0;
    float* shard = nullptr;
  };
  /// All targets are zeros, and weights on their way, where those are divided.
  void begin(TrainedGradients& whole, const Round& round);
  /// Whatever of the round's gradients is not with its owners goes there, block after block.
  void end();

  /// Sum of squares of what `train` adds to the targets, where they come by layer.
  double squares(const std::function<void()>& train);

 private:
  Where where_;
  std::vector<std::unique_ptr<GradientWindow>> windows_;   // one a block
  std::vector<std::unique_ptr<TrainedGradients>> others_;  // of the blocks but the first, where they are whole
  std::vector<model::TensorBlock*> blocks_;                // of the round
  Round round_;
};

}  // namespace hone::trainer
