#include "addon/trainer_thread.h"

#include <exception>
#include <utility>

#include "addon/errors.h"
#include "addon/thread_pool.h"
#include "core/error.h"

namespace hone::addon {

TrainerThread::TrainerThread(const model::ModelConfig& model, const trainer::TrainerConfig& config)
    : model_(model), pool_(shared_thread_pool()), trainer_(std::make_unique<trainer::Trainer>(model, config, pool_.get())) {}

void TrainerThread::start(Napi::Env env) {
  worker_ = Worker::open(env, "hone.trainer", nullptr, [self = shared_from_this()] { self->trainer_.reset(); });
}

Napi::Promise TrainerThread::run(Napi::Env env, Job job, std::function<void(Napi::Env)> settled) {
  const auto deferred = Napi::Promise::Deferred::New(env);
  Worker* const worker = worker_.get();
  const auto settle = [worker, deferred, settled](Result result, std::exception_ptr failure) {
    worker->deliver([worker, deferred, settled, result = std::move(result), failure](Napi::Env js) {
      worker->release(js);
      if (settled) settled(js);
      if (failure) deferred.Reject(to_js_error(js, failure).Value());
      else deferred.Resolve(result ? result(js) : js.Undefined());
    });
  };
  const auto on_thread = [self = shared_from_this(), settle, job = std::move(job)] {
    try {
      Result result = job(*self);
      self->version_ = self->trainer_->version();
      settle(std::move(result), nullptr);
    } catch (...) {
      settle(nullptr, std::current_exception());
    }
  };
  const auto closed = std::make_exception_ptr(Error(Code::kState, "trainer: closed."));
  worker->hold(env);
  if (!worker->post(on_thread, [settle, closed] { settle(nullptr, closed); })) {
    worker->release(env);
    if (settled) settled(env);
    deferred.Reject(to_js_error(env, closed).Value());
  }
  return deferred.Promise();
}

void TrainerThread::publish(EngineThread& engine) {
  version_ = trainer_->version();
  if (!engine.set_weights(trainer_->snapshot())) fail(Code::kState, "publish: the engine is closed.");
}

}  // namespace hone::addon
