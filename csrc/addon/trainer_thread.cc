#include "addon/trainer_thread.h"

#include <utility>

#include "addon/promise_job.h"
#include "addon/thread_pool.h"
#include "core/error.h"

namespace hone::addon {

TrainerThread::TrainerThread(const model::ModelConfig& model, const trainer::TrainerConfig& config,
                             std::shared_ptr<CommunicatorThread> group, std::shared_ptr<CommunicatorThread> writers)
    : model_(model),
      pool_(shared_thread_pool()),
      group_(std::move(group)),
      ranks_(group_ ? group_->communicator(config.device) : nullptr),
      trainer_(std::make_unique<trainer::Trainer>(model, config, pool_.get(), ranks_.get())),
      writers_(std::move(writers)) {}

void TrainerThread::start(Napi::Env env) {
  worker_ = Worker::open(env, "hone.trainer", nullptr, [self = shared_from_this()] { self->trainer_.reset(); });
  writer_ = Worker::open(env, "hone.checkpoint", nullptr, nullptr);
  for (const auto& group : {group_, writers_}) {
    if (group) group->abort_before_others(env);
  }
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
  else group.use(f, trainer_->stream().backend);
}

void TrainerThread::publish(EngineThread& engine) {
  version_ = trainer_->version();
  if (!engine.set_weights(trainer_->snapshot())) fail(Code::kState, "publish: the engine is closed.");
}

void TrainerThread::stage(const std::string& directory, const std::string& extra) {
  if (group_ && !writers_) fail(Code::kState, "stage: ranks write together over a group of its own, which this trainer was not given.");
  await_writer();
  trainer_->stage(extra, staged_);
  {
    const std::lock_guard lock(mutex_);
    writing_ = true;
  }
  const auto ended = [self = shared_from_this()](std::exception_ptr failure) {
    self->write_failure_ = std::move(failure);
    { const std::lock_guard lock(self->mutex_); self->writing_ = false; }
    self->idle_.notify_all();
  };
  const auto closed = [ended] { ended(std::make_exception_ptr(Error(Code::kState, "trainer: closed before the checkpoint was written."))); };
  const auto job = [this, directory, ended] {
    try {
      write(directory);
      ended(nullptr);
    } catch (...) {
      ended(std::current_exception());
    }
  };
  if (!writer_->post(job, closed)) closed();
}

void TrainerThread::write(const std::string& directory) {
  if (writers_) writers_->use([&](dist::Communicator& ranks) { staged_.write(directory, &ranks); });
  else staged_.write(directory, nullptr);
}

void TrainerThread::save(const std::string& directory, const std::string& extra) {
  await_writer();
  trainer_->save(directory, extra);
}

void TrainerThread::await_writer() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return !writing_; });
}

Napi::Promise TrainerThread::written(Napi::Env env) {
  return run_as_promise(env, *writer_, "trainer: closed.", [self = shared_from_this()]() -> JobResult {
    if (self->write_failure_) std::rethrow_exception(self->write_failure_);
    return nullptr;
  });
}

Napi::Promise TrainerThread::close(Napi::Env env) {
  writer_->close(env);
  return worker_->close(env);
}

void TrainerThread::abandon() {
  worker_->abandon();
  writer_->abandon();
}

}  // namespace hone::addon
