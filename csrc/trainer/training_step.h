// The parts of a trainer that differ between a single process (LocalStep) and ranks that divide the work (DividedStep).
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

/// State that a step reads and writes.
struct StepParts {
  const Stream& stream;
  Trained trained;
  TrainedGradients& gradients;
  PackedWeights& weights;
  Update& update;
};

/// The calls of a step, in order: begin, compute, apply. All ranks make each call together, with equal data.
class TrainingStep {
 public:
  using Work = std::function<void()>;
  using Pass = std::function<void(const MicroBatch&)>;

  virtual ~TrainingStep() = default;

  // ---- weights
  /// The packed current weights for passes of this process. Throws kOutOfMemory.
  virtual const model::WeightSnapshot& forward_weights() = 0;
  virtual const kernels::PackedMatrix& transposed_head() = 0;
  /// Makes the weights whole in this process.
  virtual void fetch_weights() = 0;
  /// Call after writing to the weights.
  virtual void weights_changed() = 0;
  /// The ranks that share a micro-batch with this one, or null.
  virtual SequenceRanks* team() = 0;

  // ---- gradients
  // Where a backward adds the gradients of each row block.
  virtual std::vector<model::Gradients> gradients() = 0;
  /// This process's own, whole gradients. Throws kUnsupported, naming the call, if no rank has them whole.
  virtual model::TensorBlock& own_gradients(const char* call) = 0;
  /// Gradients of the last step, before clipping. Throws kUnsupported with ranks.
  virtual const model::TensorBlock& summed_gradients() = 0;
  /// Sum of squares of the gradients that `train` adds to its argument.
  virtual double squares(const std::function<void(std::vector<model::Gradients>)>& train) = 0;

  // ---- a step
  // Runs `prepare`, which may throw without changing anything.
  virtual void begin(const Work& prepare, const TrainingBatch& batch, const StepOptions& options) = 0;
  /// Trains the micro-batches by `train`, which adds to gradients(). Losses and report then cover all ranks.
  virtual void compute(const TrainingBatch& batch, const std::vector<MicroBatch>& all, const Pass& train, StepLosses& losses,
                       StepReport& report) = 0;
  /// Takes the optimizer's step as Update::apply does.
  virtual void apply(const StepOptions& options, StepReport& report) = 0;
  /// The first of S sequences for which is_bad is true, or -1.
  virtual int64_t first_bad(int64_t sequences, const std::function<bool(int64_t sequence)>& is_bad) = 0;
  /// Scores the micro-batches, which `prepare` fills, by `score`, which writes to `scores`.
  virtual void score(const Work& prepare, const TrainingBatch& batch, float temperature, const std::vector<MicroBatch>& all,
                     const Pass& score, const TokenScores& scores) = 0;

  // ---- optimizer and checkpoints
  /// Drops moments and step counter. Throws what check_optimizer and check_sharding throw.
  virtual void reset_optimizer(const TrainerConfig& config) = 0;
  virtual CheckpointDraft draft(const std::string& extra, const model::AdapterConfig& adapters) = 0;
  virtual void write(const std::string& directory, const CheckpointDraft& draft) = 0;
  /// Fills weights and moments. Throws what CheckpointReader throws.
  virtual CheckpointState read(const std::string& directory, const model::AdapterConfig& adapters) = 0;
  /// Runs `work`. what: names the call in messages; if one rank throws, all do.
  virtual void together(const char* what, const Work& work) = 0;
};

/// ranks: the group, or null. All must outlive it. Throws kConfig if config and ranks do not fit, and the errors of
/// ShardedStep.
std::unique_ptr<TrainingStep> make_step(const StepParts& parts, const TrainerConfig& config, dist::Communicator* ranks);

}  // namespace hone::trainer
