#include "addon/worker.h"

#include <utility>

#include "addon/errors.h"
#include "core/error.h"

namespace hone::addon {

std::shared_ptr<Worker> Worker::open(Napi::Env env, const char* name, std::function<bool()> idle,
                                     std::function<void()> ended) {
  std::shared_ptr<Worker> worker(new Worker());
  worker->ended_ = std::move(ended);
  auto* context = new std::shared_ptr<Worker>(worker);  // deleted by dropped()
  const napi_status status =
      napi_create_threadsafe_function(env, nullptr, nullptr, Napi::String::New(env, name), 0, 1, context,
                                      &Worker::dropped, context, &Worker::call_js, &worker->tsfn_);
  if (status != napi_ok) {
    delete context;
    fail(Code::kInternal, "%s: Node refused a thread-safe function (status %d)", name, int(status));
  }
  napi_unref_threadsafe_function(env, worker->tsfn_);
  napi_add_env_cleanup_hook(env, &Worker::at_teardown, worker.get());
  worker->thread_.start(std::move(idle), [raw = worker.get()] {
    raw->deliver([raw](Napi::Env js) { raw->finish(js); });
  });
  return worker;
}

void Worker::deliver(Delivery delivery) {
  {
    std::lock_guard lock(mutex_);
    deliveries_.push_back(std::move(delivery));
    if (std::exchange(signalled_, true)) return;
  }
  // Fails only while the environment is being torn down, when there is no callback left to call.
  napi_call_threadsafe_function(tsfn_, nullptr, napi_tsfn_nonblocking);
}

bool Worker::ask(const Delivery& delivery) {
  const auto done = std::make_shared<bool>(false);
  deliver([this, done, &delivery](Napi::Env env) {
    delivery(env);
    const std::lock_guard lock(mutex_);
    *done = true;
    answered_.notify_all();
  });
  std::unique_lock lock(mutex_);
  answered_.wait(lock, [&] { return *done || torn_down_; });
  return *done;
}

void Worker::call_js(napi_env env, napi_value, void* context, void*) {
  if (!env) return;
  const std::shared_ptr<Worker> self = *static_cast<std::shared_ptr<Worker>*>(context);
  std::vector<Delivery> deliveries;
  {
    std::lock_guard lock(self->mutex_);
    std::swap(deliveries, self->deliveries_);
    self->signalled_ = false;
  }
  const Napi::HandleScope scope(env);
  for (const Delivery& delivery : deliveries) {
    try {
      delivery(env);
    } catch (const Napi::Error& error) {
      // No JavaScript caller could catch the error: report it as an uncaught exception.
      napi_fatal_exception(env, error.Value());
    } catch (...) {
      napi_fatal_exception(env, to_js_error(env, std::current_exception()).Value());
    }
  }
}

void Worker::hold(Napi::Env env) {
  if (holds_++ == 0 && !joined_) napi_ref_threadsafe_function(env, tsfn_);
}

void Worker::release(Napi::Env env) {
  if (--holds_ == 0 && !joined_) napi_unref_threadsafe_function(env, tsfn_);
}

Napi::Promise Worker::close(Napi::Env env) {
  const Napi::Promise::Deferred deferred(env);
  if (joined_) {
    deferred.Resolve(env.Undefined());
    return deferred.Promise();
  }
  if (closers_.empty()) hold(env);  // keeps the process alive until the thread is joined
  closers_.push_back(deferred);
  thread_.stop();
  return deferred.Promise();
}

void Worker::join() {
  thread_.join();
  joined_ = true;
  const std::function<void()> ended = std::exchange(ended_, nullptr);
  if (ended) ended();
}

void Worker::finish(Napi::Env env) {
  join();
  napi_remove_env_cleanup_hook(env, &Worker::at_teardown, this);
  napi_release_threadsafe_function(tsfn_, napi_tsfn_release);
  for (const Napi::Promise::Deferred& closer : closers_) closer.Resolve(env.Undefined());
  closers_.clear();
}

void Worker::at_teardown(void* context) {
  auto* self = static_cast<Worker*>(context);
  { const std::lock_guard lock(self->mutex_); self->torn_down_ = true; }
  self->answered_.notify_all();  // wakes a job that waits in ask(), which could otherwise never be joined
  self->thread_.stop();
  self->join();
}

void Worker::dropped(napi_env, void* context, void*) { delete static_cast<std::shared_ptr<Worker>*>(context); }

}  // namespace hone::addon
