// One rank's share of a step, where ranks divide the work and the optimizer.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "dist/communicator.h"
#include "dist/solo_communicator.h"
#include "trainer/config.h"
#include "trainer/rank_agreement.h"
#include "trainer/shard_exchange.h"
#include "trainer/shard_layout.h"
#include "trainer/sharded_optimizer.h"

namespace hone::trainer {

/// The calls of a step, in their order: begin, compute, apply. All ranks make them together. If a rank fails before the
/// weights are touched, every rank throws, and weights and moments are as they were.
class ShardedStep {
 public:
  /// trained: whole on every rank. ranks: the group, or null for one rank alone. Both must outlive this.
  /// Throws what check_sharding throws.
  ShardedStep(const Stream& stream, model::TensorBlock& trained, const TrainerConfig& config, dist::Communicator* ranks);

  ShardedOptimizer& optimizer() { return optimizer_; }
  const ShardLayout& layout() const { return layout_; }
  dist::Communicator& ranks() { return ranks_; }
  /// Somebody wrote to the weights: the next step compares those of all ranks.
  void weights_changed() { compared_ = false; }

  /// Runs `prepare`, which may throw, and agrees with the others about the batch. Throws kState if ranks were given
  /// different batches, options, configs or weights.
  void begin(const std::function<void()>& prepare, const TrainingBatch& batch, const StepOptions& options, uint32_t version);
  /// Trains this rank's micro-batches by `train`, which adds to `grads`; leaves the sum over all ranks in the optimizer's
  /// shard, and losses and report whole.
  void compute(const TrainingBatch& batch, const std::vector<MicroBatch>& all, model::TensorBlock& grads,
               const std::function<void(const MicroBatch&)>& train, StepLosses& losses, StepReport& report);
  /// The first of S sequences for which find(first, step) finds that its gradient is not finite, looking at every
  /// `step`-th, or -1.
  int64_t first_bad(const std::function<int64_t(int64_t first, int64_t step)>& find);

 private:
  std::exception_ptr compute_one_by_one(const std::vector<MicroBatch>& all, model::TensorBlock& grads,
                                        const std::function<void(const MicroBatch&)>& train);

  model::TensorBlock& trained_;
  TrainerConfig config_;
  dist::SoloCommunicator solo_;
  dist::Communicator& ranks_;
  ShardLayout layout_;
  ShardExchange exchange_;
  ShardedOptimizer optimizer_;
  bool compared_ = false;
};

}  // namespace hone::trainer
