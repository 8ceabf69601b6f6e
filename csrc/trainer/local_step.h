// The TrainingStep of a single process.
#pragma once

#include "trainer/training_step.h"

namespace hone::trainer {

class LocalStep final : public TrainingStep {
 public:
  explicit LocalStep(const StepParts& parts) : parts_(parts) {}

  const model::WeightSnapshot& forward_weights() override { return *parts_.weights.snapshot(); }
  void fetch_weights() override {}
  void weights_changed() override { parts_.weights.parameters_changed(); }
  SequenceRanks* team() override { return nullptr; }

  std::vector<model::Gradients> gradients() override { return {parts_.gradients.views()}; }
  model::TensorBlock& own_gradients(const char*) override { return parts_.gradients.block(); }
  const model::TensorBlock& summed_gradients() override { return parts_.gradients.block(); }
  double squares(const std::function<void(std::vector<model::Gradients>)>& train) override;

  void begin(const Work& prepare, const TrainingBatch&, const StepOptions&) override { prepare(); }
  void compute(const TrainingBatch& batch, const std::vector<MicroBatch>& all, const Pass& train, StepLosses& losses,
               StepReport& report) override;
  void apply(const StepOptions& options, StepReport& report) override;
  int64_t first_bad(int64_t sequences, const std::function<bool(int64_t sequence)>& is_bad) override;
  void score(const Work& prepare, const TrainingBatch& batch, float temperature, const std::vector<MicroBatch>& all, const Pass& score,
             const TokenScores& scores) override;

  void reset_optimizer(const TrainerConfig& config) override { parts_.update.reset(config.optimizer); }
  CheckpointDraft draft(const std::string& extra, const model::AdapterConfig& adapters) override;
  void write(const std::string& directory, const CheckpointDraft& draft) override { write_draft(directory, draft); }
  CheckpointState read(const std::string& directory, const model::AdapterConfig& adapters) override;
  void together(const char*, const Work& work) override { work(); }

 private:
  StepParts parts_;
};

}  // namespace hone::trainer
