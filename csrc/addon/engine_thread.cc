#include "addon/engine_thread.h"

#include <utility>

#include "addon/thread_pool.h"

namespace hone::addon {
namespace {

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void append(engine::StepOutput& to, const engine::StepOutput& from) {
  append(to.request, from.request);
  append(to.attempt, from.attempt);
  append(to.token, from.token);
  append(to.logprob, from.logprob);
  append(to.entropy, from.entropy);
  append(to.version, from.version);
  append(to.oldest_kv, from.oldest_kv);
  append(to.finish, from.finish);
  append(to.route_rows, from.route_rows);
  append(to.routes, from.routes);
  append(to.ended_request, from.ended_request);
  append(to.ended_attempt, from.ended_attempt);
  append(to.ended_finish, from.ended_finish);
}

}  // namespace

EngineThread::EngineThread(const model::ModelConfig& model, const engine::EngineConfig& config)
    : pool_(shared_thread_pool()), engine_(std::make_unique<engine::Engine>(model, config, pool_.get())), stats_(engine_->stats()) {}

void EngineThread::start(Napi::Env env, Handlers handlers) {
  handlers_ = std::move(handlers);
  // The worker keeps this object alive until its thread is joined. The handlers hold JavaScript references,
  // so they are destroyed on the JavaScript thread, whichever thread drops this object last.
  worker_ = Worker::open(
      env, "hone.engine", [self = shared_from_this()] { return self->run_step(); },
      [self = shared_from_this()] {
        self->engine_.reset();
        const Handlers last = std::exchange(self->handlers_, {});
        last.on_end();
      });
}

bool EngineThread::run_step() {
  if (failed_) return false;
  bool worked = false;
  guarded([&] {
    worked = engine_->step(step_);
    if (worked) publish();
  });
  return worked;
}

void EngineThread::guarded(const std::function<void()>& job) {
  try {
    job();
  } catch (...) {
    failed_ = true;
    worker_->deliver([self = shared_from_this(), failure = std::current_exception()](Napi::Env env) {
      self->flush(env);  // tokens sampled before the failure are delivered first
      self->handlers_.on_error(env, failure);
    });
  }
}

void EngineThread::publish() {
  {
    const std::lock_guard lock(mutex_);
    append(pending_, step_);
    stats_ = engine_->stats();
    if (std::exchange(scheduled_, true)) return;
  }
  worker_->deliver([self = shared_from_this()](Napi::Env env) { self->flush(env); });
}

void EngineThread::flush(Napi::Env env) {
  {
    const std::lock_guard lock(mutex_);
    delivering_.clear();
    std::swap(pending_, delivering_);  // a swap, so that both keep their memory
    scheduled_ = false;
  }
  if (!delivering_.request.empty() || !delivering_.ended_request.empty()) handlers_.on_message(env, delivering_);
}

bool EngineThread::submit(engine::Request request) {
  auto shared = std::make_shared<engine::Request>(std::move(request));
  return worker_->post([self = shared_from_this(), shared] {
    if (!self->failed_) self->guarded([&] { self->engine_->submit(std::move(*shared)); });
  });
}

bool EngineThread::abort(uint64_t request, int32_t attempt) {
  return worker_->post([self = shared_from_this(), request, attempt] { self->engine_->abort(request, attempt); });
}

bool EngineThread::set_weights(std::shared_ptr<const model::WeightSnapshot> weights) {
  return worker_->post([self = shared_from_this(), weights = std::move(weights)] {
    self->guarded([&] { self->engine_->set_weights(weights); });
  });
}

engine::EngineStats EngineThread::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace hone::addon
