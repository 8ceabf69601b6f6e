#include "trainer/sharded_step.h"

#include <algorithm>

namespace hone::trainer {

ShardedStep::ShardedStep(const Stream& stream, model::TensorBlock& trained, const TrainerConfig& config, dist::Communicator* ranks)
    : trained_(trained),
      config_((check_sharding(config), config)),
      ranks_(ranks ? *ranks : solo_),
      layout_(trained.specs(), trained.config().layers, ranks_.size()),
      exchange_(stream, layout_, ranks_),
      optimizer_(stream, trained, layout_, exchange_, ranks_.rank()) {
  optimizer_.reset(config.optimizer);
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
  if (compared_) return;
  const bool same = exchange_.same(trained_.flat().as<float>());
  failure = kept_failure([&] {
    if (!same) fail(Code::kState, "step: the weights of rank %d differ from those of other ranks. Load the same on all.", ranks_.rank());
  });
  agree(ranks_, "step", failure);
  compared_ = true;
}

void ShardedStep::compute(const TrainingBatch& batch, const std::vector<MicroBatch>& all, model::TensorBlock& grads,
                          const std::function<void(const MicroBatch&)>& train, StepLosses& losses, StepReport& report) {
  std::exception_ptr failure;
  if (config_.sharding.exact) {
    failure = compute_one_by_one(all, grads, train);
  } else {
    failure = kept_failure([&] {
      grads.zero();
      for (const MicroBatch& which : dealt(all, ranks_.rank(), ranks_.size())) train(which);
    });
  }
  agree(ranks_, "step", failure);
  gather_report(ranks_, batch, all, losses, report);
  const int given = int(std::min<size_t>(all.size(), size_t(ranks_.size())));
  if (!config_.sharding.exact) exchange_.reduce(grads.flat().as<float>(), given, optimizer_.gradients());
}

/// In rounds of a micro-batch a rank. Whoever fails goes on exchanging, since the others wait for it.
std::exception_ptr ShardedStep::compute_one_by_one(const std::vector<MicroBatch>& all, model::TensorBlock& grads,
                                                   const std::function<void(const MicroBatch&)>& train) {
  std::exception_ptr failure;
  const auto size = size_t(ranks_.size()), rank = size_t(ranks_.rank());
  for (size_t first = 0; first < all.size(); first += size) {
    const size_t given = std::min(all.size() - first, size);
    if (rank < given && !failure) {
      failure = kept_failure([&] {
        grads.zero();
        train(all[first + rank]);
      });
    }
    exchange_.reduce(grads.flat().as<float>(), int(given), optimizer_.gradients());
  }
  return failure;
}

int64_t ShardedStep::first_bad(const std::function<int64_t(int64_t first, int64_t step)>& find) {
  int64_t own = -1;
  agree(ranks_, "step", kept_failure([&] { own = find(ranks_.rank(), ranks_.size()); }));
  return first_of_ranks(ranks_, own);
}

}  // namespace hone::trainer
