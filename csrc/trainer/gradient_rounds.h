// Rounds of micro-batches, one micro-batch per rank, or per team of ranks that divide one (Sharding::sequence):
// where their backwards add gradients, and how the gradients reach the ranks that own them.
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

/// The trained tensors: those of all parameters, or of adapters; the pointer to the other is null.
struct Trained {
  model::TensorBlock& block;
  const model::Parameters* parameters;
  const model::Adapters* adapters = nullptr;
};

/// Number of row blocks whose gradients a rank keeps separate: Sharding::sequence if the rank is alone and
/// must get the bits that a team would get; otherwise 1.
int blocks_alone(const Sharding& sharding, int ranks);

/// Holds the gradients of a round's micro-batches: whole, or one layer at a time if the stage shards
/// gradients. All ranks make the same calls together, even ranks without a micro-batch.
class GradientRounds {
 public:
  struct Where {
    const Stream& stream;
    const ShardLayout& layout;
    ShardExchange& exchange;
    ShardedWeights& weights;
  };
  /// All arguments must outlive this object. Throws kOutOfMemory.
  GradientRounds(const Where& where, const Trained& trained, const Sharding& sharding, int ranks);

  bool by_layer() const { return !windows_.empty(); }
  /// Where a backward adds the gradients of each row block; the first block uses `whole`, unless gradients
  /// come by layer. Throws kOutOfMemory.
  std::vector<model::Gradients> targets(TrainedGradients& whole);

  /// A round: ranks 0 .. given - 1 have gradients. Elements that this rank owns are added to `shard`.
  struct Round {
    int given = 0;
    float* shard = nullptr;
  };
  /// Zeroes the gradients of all row blocks, and starts gathering weights if those are sharded.
  void begin(TrainedGradients& whole, const Round& round);
  /// Sends the round's remaining gradients to the ranks that own them, row block by row block.
  void end();

  /// Sum of squares of the gradients that `train` adds to targets(); only if gradients come by layer.
  double squares(const std::function<void()>& train);

 private:
  Where where_;
  std::vector<std::unique_ptr<GradientWindow>> windows_;   // one per row block
  // gradients of the row blocks after the first, if gradients are whole
  std::vector<std::unique_ptr<TrainedGradients>> others_;
  std::vector<model::TensorBlock*> blocks_;                // gradients of each row block in the current round
  Round round_;
};

}  // namespace hone::trainer
