#include "trainer/divided_step.h"

#include "trainer/checkpoint_shards.h"

namespace hone::trainer {

void DividedStep::fetch_weights() {
  if (window()) sharded_.weights().fetch();
}

void DividedStep::weights_changed() {
  whole_.weights_changed();
  sharded_.weights().written();
}

model::TensorBlock& DividedStep::own_gradients(const char* call) {
  if (sharded_.by_layer()) fail(Code::kUnsupported, "%s: with sharding of gradients they are whole nowhere.", call);
  return whole_.own_gradients(call);
}

const model::TensorBlock& DividedStep::summed_gradients() {
  fail(Code::kUnsupported, "trainer: the gradients of a sharded trainer are whole nowhere.");
}

double DividedStep::squares(const std::function<void(std::vector<model::Gradients>)>& train) {
  if (!sharded_.by_layer()) return whole_.squares(train);
  return sharded_.squares([&] { train(gradients()); });
}

void DividedStep::begin(const Work& prepare, const TrainingBatch& batch, const StepOptions& options) {
  sharded_.begin(prepare, batch, options, parts_.weights.version());
}

void DividedStep::compute(const TrainingBatch& batch, const std::vector<MicroBatch>& all, const Pass& train, StepLosses& losses,
                          StepReport& report) {
  sharded_.compute(batch, all, parts_.gradients, train, losses, report);
}

void DividedStep::apply(const StepOptions& options, StepReport& report) {
  if (!divides_update()) {
    sharded_.gather_gradients(parts_.gradients.block());
    return whole_.apply(options, report);
  }
  sharded_.apply(options, report);
  if (!report.skipped) parts_.weights.advance(nullptr, options.keeps_version ? 0 : 1);
}

int64_t DividedStep::first_bad(int64_t sequences, const std::function<bool(int64_t sequence)>& is_bad) {
  return sharded_.first_bad(sequences, is_bad);
}

void DividedStep::score(const Work& prepare, const TrainingBatch& batch, float temperature, const std::vector<MicroBatch>& all,
                        const Pass& score, const TokenScores& scores) {
  sharded_.score(prepare, batch, temperature, all, score, scores);
}

void DividedStep::reset_optimizer(const TrainerConfig& config) {
  check_sharding(config);
  whole_.reset_optimizer(config);
  sharded_.optimizer().reset(config.optimizer);
}

CheckpointDraft DividedStep::draft(const std::string& extra, const model::AdapterConfig& adapters) {
  if (divides_update()) {
    const CheckpointState state{parts_.weights.version(), sharded_.optimizer().steps, parts_.update.config().kind, extra, adapters};
    return share_draft(state, parts_.trained.block, sharded_, kShardBytes);
  }
  CheckpointDraft draft = whole_.draft(extra, adapters);
  draft.writes = sharded_.ranks().rank() == 0;
  return draft;
}

void DividedStep::write(const std::string& directory, const CheckpointDraft& draft) {
  write_draft_together(directory, draft, sharded_.ranks());
}

CheckpointState DividedStep::read(const std::string& directory, const model::AdapterConfig& adapters) {
  if (!divides_update()) return whole_.read(directory, adapters);
  return read_sharded_checkpoint(directory, parts_.trained.block, sharded_, adapters);
}

}  // namespace hone::trainer
