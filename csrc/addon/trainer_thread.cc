#include "addon/trainer_thread.h"

#include <utility>

#include "addon/promise_job.h"
#include "addon/thread_pool.h"
#include "core/error.h"

namespace hone::addon {

TrainerThread::TrainerThread(const model::ModelConfig& model, const trainer::TrainerConfig& config,
                             std::shared_ptr<CommunicatorThread> group)
    : model_(model),
      pool_(shared_thread_pool()),
      group_(std::move(group)),
      ranks_(group_ ? group_->communicator() : nullptr),
      trainer_(std::make_unique<trainer::Trainer>(model, config, pool_.get(), ranks_.get())) {}

void TrainerThread::start(Napi::Env env) {
  worker_ = Worker::open(env, "hone.trainer", nullptr, [self = shared_from_this()] { self->trainer_.reset(); });
}

Napi::Promise TrainerThread::run(Napi::Env env, Job job, std::function<void(Napi::Env)> settled) {
  const auto on_thread = [self = shared_from_this(), job = std::move(job)] {
    Result result;
    if (self->group_) self->group_->use([&](dist::Communicator&) { result = job(*self); });
    else result = job(*self);
    self->version_ = self->trainer_->version();
    return result;
  };
  return run_as_promise(env, *worker_, "trainer: closed.", on_thread, std::move(settled));
}

void TrainerThread::use(CommunicatorThread& group, const std::function<void(dist::Communicator&)>& f) {
  if (&group == group_.get()) f(*ranks_);
  else group.use(f);
}

void TrainerThread::publish(EngineThread& engine) {
  version_ = trainer_->version();
  if (!engine.set_weights(trainer_->snapshot())) fail(Code::kState, "publish: the engine is closed.");
}

}  // namespace hone::addon
