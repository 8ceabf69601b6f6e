#include "trainer/sharded_step.h"

#include <algorithm>

#include "kernels/optimizer.h"

namespace hone::trainer {

ShardedStep::ShardedStep(const Stream& stream, const Trained& trained, const TrainerConfig& config, dist::Communicator* ranks)
    : stream_(stream),
      trained_(trained.block),
      config_((check_sharding(config), config)),
      ranks_(ranks ? *ranks : solo_),
      layout_(trained_.specs(), trained_.config().layers, ranks_.size()),
      exchange_(stream, layout_, ranks_),
      optimizer_(stream, trained_, layout_, exchange_, ranks_.rank()),
      weights_(trained_, layout_, exchange_, ranks_) {
  optimizer_.reset(config.optimizer);
  if (config.sharding.stage >= Sharding::Stage::kGradients) window_.emplace(*trained.parameters, layout_);
  if (config.sharding.stage < Sharding::Stage::kParameters) return;
  weights_.divide(WeightWindow::Source{*trained.parameters, layout_, ranks_}, stream_, config);
  optimizer_.gathers_layers = false;
}

void ShardedStep::begin(const std::function<void()>& prepare, const TrainingBatch& batch, const StepOptions& options,
                        uint32_t version) {
  std::string fingerprint;
  config_.optimizer = optimizer_.config();
  std::exception_ptr failure = kept_failure([&] {
    prepare();
    optimizer_.clear_gradients();
    fingerprint = step_fingerprint(batch, options, config_, version, optimizer_.steps);
  });
  agree(ranks_, "step", failure, fingerprint);
  weights_.settle("step");
}

void ShardedStep::apply(const StepOptions& options, StepReport& report) {
  optimizer_.apply(options, report);
  if (weights_.window()) weights_.window()->ends_changed();
}

void ShardedStep::compute(const TrainingBatch& batch, const std::vector<MicroBatch>& all, TrainedGradients& whole,
                          const std::function<void(const MicroBatch&)>& train, StepLosses& losses, StepReport& report) {
  std::exception_ptr failure;
  const bool one_by_one = config_.sharding.exact || window_;
  if (one_by_one) {
    failure = compute_one_by_one(all, round(whole), train);
  } else {
    failure = kept_failure([&] {
      whole.block().zero();
      for (const MicroBatch& which : dealt(all, ranks_.rank(), ranks_.size())) train(which);
    });
  }
  agree(ranks_, "step", failure);
  gather_report(ranks_, batch, all, losses, report);
  const int given = int(std::min<size_t>(all.size(), size_t(ranks_.size())));
  if (!one_by_one) exchange_.reduce(whole.block().flat().as<float>(), given, optimizer_.gradients());
}

ShardedStep::Round ShardedStep::round(TrainedGradients& whole) {
  float* const shard = optimizer_.gradients();
  if (!window_) {
    return {[&whole](int) { whole.block().zero(); },
            [this, &whole, shard](int given) { exchange_.reduce(whole.block().flat().as<float>(), given, shard); }};
  }
  const auto begin = [this, shard](int given) {
    if (weights_.window()) weights_.window()->begin(Pass::kTraining);
    window_->begin([this, shard, given](size_t bucket, const float* gradients) {
      if (weights_.window()) weights_.window()->reach_backward(layout_.buckets()[bucket].layer);
      exchange_.reduce_bucket(bucket, gradients, given, shard);
    });
  };
  return {begin, [this](int) { window_->end(); }};
}

/// Whoever has no micro-batch, or fails, goes on exchanging, since the others wait for it.
std::exception_ptr ShardedStep::compute_one_by_one(const std::vector<MicroBatch>& all, const Round& round,
                                                   const std::function<void(const MicroBatch&)>& train) {
  std::exception_ptr failure;
  const auto size = size_t(ranks_.size()), rank = size_t(ranks_.rank());
  for (size_t first = 0; first < all.size(); first += size) {
    const size_t given = std::min(all.size() - first, size);
    round.begin(int(given));
    if (rank < given && !failure) failure = kept_failure([&] { train(all[first + rank]); });
    round.end(int(given));
  }
  return failure;
}

double ShardedStep::squares(const std::function<void()>& train) {
  double total = 0.0;
  window_->begin([&](size_t bucket, const float* gradients) {
    total += kernels::sum_of_squares(stream_, f32(gradients, {layout_.buckets()[bucket].count}));
  });
  train();
  window_->end();
  return total;
}

/// Every rank makes as many passes, since weights may have to be gathered for each.
int64_t ShardedStep::first_bad(int64_t sequences, const std::function<bool(int64_t sequence)>& is_bad) {
  int64_t own = -1;
  std::exception_ptr failure;
  for (int64_t first = 0; first < sequences; first += ranks_.size()) {
    const int64_t sequence = first + ranks_.rank();
    if (weights_.window()) weights_.window()->begin(Pass::kTraining);
    if (own < 0 && sequence < sequences && !failure) failure = kept_failure([&] { own = is_bad(sequence) ? sequence : -1; });
    if (weights_.window()) weights_.window()->end();
  }
  agree(ranks_, "step", failure);
  return first_of_ranks(ranks_, own);
}

}  // namespace hone::trainer
