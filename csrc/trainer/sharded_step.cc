#include "trainer/sharded_step.h"

#include <algorithm>

namespace hone::trainer {

ShardedStep::ShardedStep(const Stream& stream, const Trained& trained, const TrainerConfig& config, dist::Communicator* ranks)
    : stream_(stream),
      trained_(trained.block),
      config_((check_sharding(config), config)),
      ranks_(ranks ? *ranks : solo_),
      layout_(trained_.specs(), trained_.config().layers, ranks_.size()),
      exchange_(stream, layout_, ranks_),
      optimizer_(stream, trained_, layout_, exchange_, ranks_.rank()),
      weights_(trained_, layout_, exchange_, ranks_),
      rounds_(GradientRounds::Where{stream_, layout_, exchange_, weights_}, trained, config.sharding, ranks_.size()) {
  optimizer_.reset(config.optimizer);
  const int K = config.sharding.sequence;
  check_sequence(trained_.config(), K, ranks_.size());
  if (K > 1 && ranks_.size() > 1) sequence_.emplace(stream_, trained_.config(), ranks_, K);
  if (config.sharding.stage < Sharding::Stage::kParameters) return;
  weights_.divide(WeightWindow::Source{*trained.parameters, layout_, ranks_, sequence_.has_value()}, stream_, config);
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
  const bool one_by_one = config_.sharding.exact || by_layer();
  if (one_by_one) {
    failure = compute_one_by_one(all, whole, train);
  } else {
    failure = tried([&] {
      whole.block().zero();
      for (const MicroBatch& which : dealt(all, ranks_.rank() / team_size(), ranks_.size() / team_size())) train(which);
    });
  }
  agree(ranks_, "step", failure);
  gather_report(ranks_, team_size(), batch, all, losses, report);
  const int given = int(std::min<size_t>(all.size() * size_t(team_size()), size_t(ranks_.size())));
  if (!one_by_one) exchange_.reduce(whole.block().flat().as<float>(), given, optimizer_.gradients());
}

/// Runs a pass and returns its exception. In a team, whose ranks wait for one another during a pass, it
/// aborts the group and throws instead.
std::exception_ptr ShardedStep::tried(const std::function<void()>& pass) {
  const std::exception_ptr failure = kept_failure(pass);
  if (!failure || !sequence_) return failure;
  ranks_.abort("a pass that ranks make together failed on this one");
  std::rethrow_exception(failure);
}

/// Trains this rank's micro-batches, round by round. A rank without a micro-batch, or one that failed, still
/// takes part in the exchanges, since the other ranks wait for them.
std::exception_ptr ShardedStep::compute_one_by_one(const std::vector<MicroBatch>& all, TrainedGradients& whole,
                                                   const std::function<void(const MicroBatch&)>& train) {
  std::exception_ptr failure;
  const auto size = size_t(ranks_.size() / team_size()), own = size_t(ranks_.rank() / team_size());  // teams
  for (size_t first = 0; first < all.size(); first += size) {
    const size_t given = std::min(all.size() - first, size);
    rounds_.begin(whole, {int(given) * team_size(), optimizer_.gradients()});
    if (own < given && !failure) failure = tried([&] { train(all[first + own]); });
    rounds_.end();
  }
  return failure;
}

/// Calls own(i) for this rank's share of `count` passes (every P-th of P teams) until one fails. Every rank
/// makes the same number of rounds, since weights may have to be gathered for each round.
std::exception_ptr ShardedStep::in_rounds(int64_t count, Pass pass, const std::function<void(int64_t)>& own) {
  std::exception_ptr failure;
  for (int64_t first = 0; first < count; first += ranks_.size() / team_size()) {
    const int64_t i = first + ranks_.rank() / team_size();
    if (weights_.window()) weights_.window()->begin(pass);
    if (i < count && !failure) failure = tried([&] { own(i); });
    if (weights_.window()) weights_.window()->end();
  }
  return failure;
}

int64_t ShardedStep::first_bad(int64_t sequences, const std::function<bool(int64_t sequence)>& is_bad) {
  int64_t own = -1;
  const auto look = [&](int64_t sequence) {
    // a team's ranks make every pass together, so they continue after a bad sequence was found
    if (own < 0 || sequence_) own = is_bad(sequence) && own < 0 ? sequence : own;
  };
  agree(ranks_, "step", in_rounds(sequences, Pass::kTraining, look));
  return first_of_ranks(ranks_, own);
}

void ShardedStep::score(const std::function<void()>& prepare, const TrainingBatch& batch, float temperature, const std::vector<MicroBatch>& all,
                        const std::function<void(const MicroBatch&)>& score, const TokenScores& scores) {
  std::string fingerprint;
  const auto begin = [&] { prepare(), fingerprint = score_fingerprint(batch, temperature, scores, config_); };
  agree(ranks_, "score", kept_failure(begin), fingerprint);
  weights_.settle("score");
  agree(ranks_, "score", in_rounds(int64_t(all.size()), Pass::kForward, [&](int64_t i) { score(all[size_t(i)]); }));
  gather_scores(ranks_, team_size(), batch, all, scores);
}

}  // namespace hone::trainer
