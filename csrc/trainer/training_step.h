// TrainingStep: what a trainer does differently in a single process (LocalStep) and on ranks that divide the
// work (DividedStep).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dist/communicator.h"
#include "trainer/checkpoint_draft.h"
#include "trainer/config.h"
#include "trainer/gradient_rounds.h"
#include "trainer/micro_batch_pass.h"
#include "trainer/packed_weights.h"
#include "trainer/packer.h"
#include "trainer/trained_gradients.h"
#include "trainer/update.h"

namespace hone::trainer {

/// The trainer's state that a step reads and writes. References must stay valid.
struct StepParts {
  const Stream& stream;
  Trained trained;
  TrainedGradients& gradients;
  PackedWeights& weights;
  Update& update;
};

/// A step calls begin, compute and apply, in this order. All ranks make each call together, with equal
/// arguments.
class TrainingStep {
 public:
  using Work = std::function<void()>;
  using Pass = std::function<void(const MicroBatch&)>;

  virtual ~TrainingStep() = default;

  // ---- weights
  /// The packed current weights, and their transposed head, for this process's passes. Throw kOutOfMemory.
  virtual const model::WeightSnapshot& forward_weights() = 0;
  /// Makes the weights whole in this process.
  virtual void fetch_weights() = 0;
  /// Must be called after the weights were written to.
  virtual void weights_changed() = 0;
  /// The team of ranks that share this rank's micro-batches, or null.
  virtual SequenceRanks* team() = 0;

  // ---- gradients
  // Where a backward adds the gradients of each row block.
  virtual std::vector<model::Gradients> gradients() = 0;
  /// Gradients of this process's micro-batches, for all trained tensors. Throws kUnsupported, naming the
  /// call, if gradients are sharded.
  virtual model::TensorBlock& own_gradients(const char* call) = 0;
  /// Gradients of the last step, summed and before clipping. Throws kUnsupported if ranks divide the work.
  virtual const model::TensorBlock& summed_gradients() = 0;
  /// Sum of squares of the gradients that `train` adds to the gradients it is passed.
  virtual double squares(const std::function<void(std::vector<model::Gradients>)>& train) = 0;

  // ---- a step
  // Runs `prepare`, which may throw before anything has changed, and checks the inputs of the step.
  virtual void begin(const Work& prepare, const TrainingBatch& batch, const StepOptions& options) = 0;
  /// Calls `train` for each micro-batch of this process, which adds to gradients(). Losses and report then
  /// cover all ranks.
  virtual void compute(const TrainingBatch& batch, const std::vector<MicroBatch>& all, const Pass& train, StepLosses& losses,
                       StepReport& report) = 0;
  /// Makes the optimizer's update: Update::apply, or ShardedOptimizer::apply.
  virtual void apply(const StepOptions& options, StepReport& report) = 0;
  /// The first of S sequences for which is_bad is true on any rank, or -1.
  virtual int64_t first_bad(int64_t sequences, const std::function<bool(int64_t sequence)>& is_bad) = 0;
  /// Calls `score`, which writes to `scores`, for each micro-batch of this process; `prepare` fills `all`
  /// first.
  virtual void score(const Work& prepare, const TrainingBatch& batch, float temperature, const std::vector<MicroBatch>& all,
                     const Pass& score, const TokenScores& scores) = 0;

  // ---- optimizer and checkpoints
  /// Drops moments and step counter. Throws the errors of check_optimizer and check_sharding.
  virtual void reset_optimizer(const TrainerConfig& config) = 0;
  virtual CheckpointDraft draft(const std::string& extra, const model::AdapterConfig& adapters) = 0;
  virtual void write(const std::string& directory, const CheckpointDraft& draft) = 0;
  /// Reads weights and moments. Throws the errors of CheckpointReader.
  virtual CheckpointState read(const std::string& directory, const model::AdapterConfig& adapters) = 0;
  /// Runs `work` on every rank; if it throws on one rank, all ranks throw. what: name of the call in
  /// messages.
  virtual void together(const char* what, const Work& work) = 0;
};

/// Makes a LocalStep or a DividedStep. ranks: the group, or null. All arguments must outlive it. Throws
/// kConfig if config and ranks do not fit, and the errors of ShardedStep.
std::unique_ptr<TrainingStep> make_step(const StepParts& parts, const TrainerConfig& config, dist::Communicator* ranks);

}  // namespace hone::trainer
