// A training step on one of several ranks that divide work and optimizer.
#pragma once

#include "trainer/local_step.h"
#include "trainer/sharded_step.h"
#include "trainer/training_step.h"

namespace hone::trainer {

/// The TrainingStep of one of several ranks. Every rank updates all of Muon's matrices; the weights that
/// AdamW updates are divided among ranks.
class DividedStep final : public TrainingStep {
 public:
  /// ranks: the group, or null for a single rank. Throws the errors of ShardedStep.
  DividedStep(const StepParts& parts, const TrainerConfig& config, dist::Communicator* ranks)
      : parts_(parts), whole_(parts), sharded_(parts.stream, parts.trained, config, ranks) {}

  const model::WeightSnapshot& forward_weights() override { return window() ? window()->packed() : whole_.forward_weights(); }
  void fetch_weights() override;
  void weights_changed() override;
  SequenceRanks* team() override { return sharded_.team(); }

  std::vector<model::Gradients> gradients() override { return sharded_.gradients(parts_.gradients); }
  model::TensorBlock& own_gradients(const char* call) override;
  const model::TensorBlock& summed_gradients() override;
  double squares(const std::function<void(std::vector<model::Gradients>)>& train) override;

  void begin(const Work& prepare, const TrainingBatch& batch, const StepOptions& options) override;
  void compute(const TrainingBatch& batch, const std::vector<MicroBatch>& all, const Pass& train, StepLosses& losses,
               StepReport& report) override;
  void apply(const StepOptions& options, StepReport& report) override;
  int64_t first_bad(int64_t sequences, const std::function<bool(int64_t sequence)>& is_bad) override;
  void score(const Work& prepare, const TrainingBatch& batch, float temperature, const std::vector<MicroBatch>& all, const Pass& score,
             const TokenScores& scores) override;

  void reset_optimizer(const TrainerConfig& config) override;
  CheckpointDraft draft(const std::string& extra, const model::AdapterConfig& adapters) override;
  void write(const std::string& directory, const CheckpointDraft& draft) override;
  CheckpointState read(const std::string& directory, const model::AdapterConfig& adapters) override;
  void together(const char* what, const Work& work) override { agree(sharded_.ranks(), what, kept_failure(work)); }

 private:
  WeightWindow* window() { return sharded_.weights().window(); }
  bool divides_update() const { return parts_.update.config().kind == OptimizerConfig::Kind::kAdamW; }

  StepParts parts_;
  LocalStep whole_;  // makes the updates that every rank repeats in full
  ShardedStep sharded_;
};

}  // namespace hone::trainer
