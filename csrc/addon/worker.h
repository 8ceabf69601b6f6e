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

/// Jobs run in order on the worker's own thread; deliveries run in order on the JavaScript thread, batched per wake-up.
/// Life: open() -> close() or env teardown. The thread is joined on the JavaScript thread, which waits at most for the
/// job in progress; queued jobs are cancelled.
/// 
/// Order at teardown (required by Node's rules): the cleanup hook is added after the thread-safe function, so it runs
/// before it; it stops and joins; only then Node drops the function, whose finalizer releases the last reference to
/// this object.
class Worker : public std::enable_shared_from_this<Worker> {
 public:
  using Job = JobThread::Job;
  using Delivery = std::function<void(Napi::Env)>;

  /// `name` shows up in async_hooks and profilers. `idle` runs on the worker's thread whenever the mailbox is
  /// empty; it returns false to sleep until the next job, and must not throw. `ended` runs on the JavaScript
  /// thread once the thread is joined, also at teardown; then both functions are destroyed there, and with them
  /// whatever they keep alive.
  static std::shared_ptr<Worker> open(Napi::Env env, const char* name, std::function<bool()> idle,
                                      std::function<void()> ended);

  /// JavaScript thread or another worker's: JobThread::post.
  bool post(Job run, Job cancelled = nullptr) { return thread_.post(std::move(run), std::move(cancelled)); }
  /// Worker's thread (or a cancellation): runs on the JavaScript thread, or is dropped if that is being torn down.
  void deliver(Delivery delivery);
  /// Worker's thread: the same, and waits until it ran, which must not throw. False if JavaScript is torn down first.
  bool ask(const Delivery& delivery);

  /// JavaScript thread: keeps the process alive until released. Calls nest.
  void hold(Napi::Env env);
  void release(Napi::Env env);

  /// JavaScript thread. Finishes the job in progress, cancels the rest, joins, then resolves. Idempotent:
  /// later calls get a promise of their own.
  Napi::Promise close(Napi::Env env);
  /// The same without a promise, for finalizers: returns immediately.
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
  bool signalled_ = false, torn_down_ = false;  // Node knows of the deliveries; no callback is called any more
  std::condition_variable answered_;
  // JavaScript thread only:
  std::function<void()> ended_;
  bool joined_ = false;
  int holds_ = 0;
  std::vector<Napi::Promise::Deferred> closers_;
  JobThread thread_;  // declared last: it is joined before the members that its jobs use are destroyed
};

}  // namespace hone::addon
