// One rank's share of a step when ranks divide the micro-batches and the optimizer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "dist/communicator.h"
#include "dist/solo_communicator.h"
#include "trainer/config.h"
#include "trainer/gradient_rounds.h"
#include "trainer/rank_agreement.h"
#include "trainer/sequence_ranks.h"
#include "trainer/shard_exchange.h"
#include "trainer/shard_layout.h"
#include "trainer/sharded_optimizer.h"
#include "trainer/sharded_weights.h"

namespace hone::trainer {

/// The methods of a step are begin, compute and apply, in this order; all ranks call each together. If a rank
/// fails before weights change, every rank throws, and weights and moments are unchanged. If a rank fails
/// during a pass over a micro-batch that a team shares, the group is lost as well.
class ShardedStep {
 public:
  /// ranks: null for one rank. The arguments must outlive this. Throws as check_sharding, check_sequence.
  ShardedStep(const Stream& stream, const Trained& trained, const TrainerConfig& config, dist::Communicator* ranks);

  ShardedOptimizer& optimizer() { return optimizer_; }
  const ShardLayout& layout() const { return layout_; }
  dist::Communicator& ranks() { return ranks_; }
  ShardedWeights& weights() { return weights_; }
  /// The team of ranks that share this rank's micro-batches; null if each rank has its own.
  SequenceRanks* team() { return sequence_ ? &*sequence_ : nullptr; }

  /// Runs `prepare`, which may throw, and checks that all ranks have the same inputs. Throws kState if ranks
  /// were given different batches, options, configs or weights.
  void begin(const std::function<void()>& prepare, const TrainingBatch& batch, const StepOptions& options, uint32_t version);
  /// Where a backward adds the gradients of a rank's micro-batch, for each row block; see GradientRounds.
  std::vector<model::Gradients> gradients(TrainedGradients& whole) { return rounds_.targets(whole); }
  bool by_layer() const { return rounds_.by_layer(); }
  /// Calls `train` for each of this rank's micro-batches, which adds to gradients(whole). Afterwards the
  /// optimizer's shard holds the sum over all ranks, and losses and report cover all ranks.
  void compute(const TrainingBatch& batch, const std::vector<MicroBatch>& all, TrainedGradients& whole,
               const std::function<void(const MicroBatch&)>& train, StepLosses& losses, StepReport& report);
  /// Overwrites `whole` on every rank with the sum of all ranks' gradients; if not sharded. A collective.
  void gather_gradients(model::TensorBlock& whole) { exchange_.gather(optimizer_.gradients(), whole.flat().as<float>()); }
  /// Makes the optimizer's update: ShardedOptimizer::apply.
  void apply(const StepOptions& options, StepReport& report);
  /// Sum of squares of the gradients that `train` adds to gradients(); only if they come by layer.
  double squares(const std::function<void()>& train) { return rounds_.squares(train); }
  /// Calls `score` for this rank's micro-batches, then gathers all scores. `prepare` fills `all`.
  void score(const std::function<void()>& prepare, const TrainingBatch& batch, float temperature, const std::vector<MicroBatch>& all,
             const std::function<void(const MicroBatch&)>& score, const TokenScores& scores);
  /// The first of S sequences for which is_bad reports a non-finite gradient on any rank, or -1.
  int64_t first_bad(int64_t sequences, const std::function<bool(int64_t sequence)>& is_bad);

 private:
  int team_size() const { return sequence_ ? sequence_->ranks() : 1; }
  std::exception_ptr tried(const std::function<void()>& pass);
  std::exception_ptr in_rounds(int64_t count, Pass pass, const std::function<void(int64_t)>& own);
  std::exception_ptr compute_one_by_one(const std::vector<MicroBatch>& all, TrainedGradients& whole,
                                        const std::function<void(const MicroBatch&)>& train);

  Stream stream_;
  model::TensorBlock& trained_;
  TrainerConfig config_;
  dist::SoloCommunicator solo_;
  dist::Communicator& ranks_;
  ShardLayout layout_;
  ShardExchange exchange_;
  ShardedOptimizer optimizer_;
  std::optional<SequenceRanks> sequence_;
  ShardedWeights weights_;
  GradientRounds rounds_;
};

}  // namespace hone::trainer
