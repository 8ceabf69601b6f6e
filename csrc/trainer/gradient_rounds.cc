#include "trainer/gradient_rounds.h"

#include "core/device.h"
#include "kernels/optimizer.h"

namespace hone::trainer {

int blocks_alone(const Sharding& sharding, int ranks) {
  const bool one_by_one = sharding.exact || sharding.stage >= Sharding::Stage::kGradients;
  return ranks == 1 && one_by_one ? sharding.sequence : 1;
}

GradientRounds::GradientRounds(const Where& where, const Trained& trained, const Sharding& sharding, int ranks) : where_(where) {
  const int blocks = blocks_alone(sharding, ranks);
  const bool windows = sharding.stage >= Sharding::Stage::kGradients;
  const model::ModelConfig& config = trained.block.config();
  for (int b = 0; windows && b < blocks; ++b) windows_.push_back(std::make_unique<GradientWindow>(where.stream, *trained.parameters, where.layout));
  for (int b = 1; !windows && b < blocks; ++b) others_.push_back(std::make_unique<TrainedGradients>(where.stream, config, trained.adapters));
}

std::vector<model::Gradients> GradientRounds::targets(TrainedGradients& whole) {
  std::vector<model::Gradients> out;
  for (const auto& window : windows_) out.push_back({.window = window.get()});
  if (by_layer()) return out;
  out.push_back(whole.views());
  for (const auto& other : others_) out.push_back(other->views());
  return out;
}

void GradientRounds::begin(TrainedGradients& whole, const Round& round) {
  round_ = round;
  WeightWindow* const weights = where_.weights.window();
  if (weights) weights->begin(Pass::kTraining);
  for (const auto& window : windows_) {
    window->begin([this, weights](size_t bucket, const float* gradients) {
      if (weights) weights->reach_backward(where_.layout.buckets()[bucket].layer);
      where_.exchange.reduce_bucket(bucket, gradients, round_.given, round_.shard);
    });
  }
  if (by_layer()) return;
  blocks_ = {&whole.block()};
  for (const auto& other : others_) blocks_.push_back(&other->block());
  for (model::TensorBlock* block : blocks_) block->zero();
}

void GradientRounds::end() {
  for (const auto& window : windows_) window->end();
  for (model::TensorBlock* block : blocks_) where_.exchange.reduce(block->flat().as<float>(), round_.given, round_.shard);
}

double GradientRounds::squares(const std::function<void()>& train) {
  const Stream& stream = where_.stream;
  Arena scratch(kernels::sum_of_squares_scratch_bytes(stream, kShardBucket), "gradient norms", tensor_memory(stream));
  SharedArrays sums(stream, 64, "gradient norms");
  const auto total = sums.take<double>(1);
  zero(stream, total.device, int64_t(sizeof(double)));
  for (const auto& window : windows_) {
    window->begin([&](size_t bucket, const float* gradients) {
      const TensorView x = f32(gradients, {where_.layout.buckets()[bucket].count});
      kernels::sum_of_squares(stream, {.x = x, .total = total.view(), .scratch = &scratch, .accumulate = true});
    });
  }
  train();
  for (const auto& window : windows_) window->end();
  sums.download(stream, 0, sums.used());
  return *total.host;
}

}  // namespace hone::trainer
