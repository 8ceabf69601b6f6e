#include "trainer/training_step.h"

#include "trainer/divided_step.h"
#include "trainer/local_step.h"

namespace hone::trainer {

std::unique_ptr<TrainingStep> make_step(const StepParts& parts, const TrainerConfig& config, dist::Communicator* ranks) {
  if (config.sharding.stage != Sharding::Stage::kNone) return std::make_unique<DividedStep>(parts, config, ranks);
  if (config.sharding.sequence != 1) fail(Code::kConfig, "trainer: sharding.sequence is %d, but no stage says what ranks divide.", config.sharding.sequence);
  if (ranks) fail(Code::kConfig, "trainer: a group of ranks is given, but no sharding says what they divide.");
  return std::make_unique<LocalStep>(parts);
}

}  // namespace hone::trainer
