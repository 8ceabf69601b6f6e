#include "trainer/local_step.h"

#include <optional>

#include "core/stopwatch.h"
#include "trainer/checkpoint.h"

namespace hone::trainer {

double LocalStep::squares(const std::function<void(std::vector<model::Gradients>)>& train) {
  parts_.gradients.block().zero();
  train({parts_.gradients.views()});
  return parts_.update.sum_of_squares(parts_.gradients.block().flat());
}

void LocalStep::compute(const TrainingBatch&, const std::vector<MicroBatch>& all, const Pass& train, StepLosses&, StepReport& report) {
  std::optional<Stopwatch> watch(report.backward_seconds);
  parts_.gradients.block().zero();
  watch.reset();
  for (const MicroBatch& which : all) train(which);
}

void LocalStep::apply(const StepOptions& options, StepReport& report) {
  parts_.update.apply(parts_.gradients.block(), options, parts_.weights, report);
}

int64_t LocalStep::first_bad(int64_t sequences, const std::function<bool(int64_t sequence)>& is_bad) {
  for (int64_t i = 0; i < sequences; ++i) {
    if (is_bad(i)) return i;
  }
  return -1;
}

void LocalStep::score(const Work& prepare, const TrainingBatch&, float, const std::vector<MicroBatch>& all, const Pass& score,
                      const TokenScores&) {
  prepare();
  for (const MicroBatch& which : all) score(which);
}

CheckpointDraft LocalStep::draft(const std::string& extra, const model::AdapterConfig& adapters) {
  const CheckpointState state{parts_.weights.version(), parts_.update.optimizer().steps, parts_.update.config().kind, extra, adapters};
  return whole_draft(state, parts_.trained.block, parts_.update.optimizer(), kShardBytes);
}

CheckpointState LocalStep::read(const std::string& directory, const model::AdapterConfig& adapters) {
  return read_checkpoint(directory, parts_.trained.block, parts_.update.optimizer(), adapters);
}

}  // namespace hone::trainer
