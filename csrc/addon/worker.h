// A thread that takes jobs from a queue and delivers results to the JavaScript thread.
#pragma once

#include <napi.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "addon/job_thread.h"

namespace hone::addon {

/// Jobs run in order on the worker's own thread; deliveries run in order on the JavaScript thread, batched
/// per wake-up. A worker exists from open() to close(), or to the teardown of the environment. The JavaScript
/// thread joins the worker's thread, and waits at most for the job in progress; queued jobs are cancelled.
/// 
/// Order at teardown (required by Node): the cleanup hook is added after the thread-safe function was
/// created, so it runs before that function is dropped; the hook stops and joins the thread; then Node drops
/// the function, whose finalizer releases the last reference to this object.
class Worker : public std::enable_shared_from_this<Worker> {
 public:
  using Job = JobThread::Job;
  using Delivery = std::function<void(Napi::Env)>;

  /// `name` is shown in async_hooks and profilers. `idle` runs on the worker's thread whenever the queue is
  /// empty; it returns false to sleep until the next job, and must not throw. `ended` runs on the JavaScript
  /// thread when the worker's thread has been joined, also at teardown; then both functions are destroyed on
  /// the JavaScript thread, and with them the objects they captured.
  static std::shared_ptr<Worker> open(Napi::Env env, const char* name, std::function<bool()> idle,
                                      std::function<void()> ended);

  /// May be called from the JavaScript thread or another worker's thread: see JobThread::post.
  bool post(Job run, Job cancelled = nullptr) { return thread_.post(std::move(run), std::move(cancelled)); }
  /// Call on the worker's thread: `delivery` runs on the JavaScript thread, or is dropped at teardown.
  void deliver(Delivery delivery);
  /// Call on the worker's thread: runs `delivery`, which must not throw, on the JavaScript thread, and waits
  /// for it. Returns false if JavaScript is torn down first.
  bool ask(const Delivery& delivery);

  /// Call on the JavaScript thread: hold() keeps the process alive until release(). Calls nest.
  void hold(Napi::Env env);
  void release(Napi::Env env);

  /// Call on the JavaScript thread. Finishes the current job, cancels the rest, joins the thread, resolves.
  Napi::Promise close(Napi::Env env);
  /// Stops the thread as close() does, but returns immediately and without a promise; for finalizers.
  void abandon() { thread_.stop(); }
  bool closing() const { return thread_.stopped(); }

 private:
  static void call_js(napi_env env, napi_value, void* context, void*);
  static void dropped(napi_env env, void* context, void*);
  static void at_teardown(void* context);

  Worker() = default;
  void finish(Napi::Env env);
  void join();

  napi_threadsafe_function tsfn_ = nullptr;
  std::mutex mutex_;
  std::vector<Delivery> deliveries_;
  bool signalled_ = false, torn_down_ = false;  // Node was told of deliveries; no callback may be called
  std::condition_variable answered_;
  // Members for the JavaScript thread only:
  std::function<void()> ended_;
  bool joined_ = false;
  int holds_ = 0;
  std::vector<Napi::Promise::Deferred> closers_;
  JobThread thread_;  // declared last: it is joined before the members that its jobs use are destroyed
};

}  // namespace hone::addon
