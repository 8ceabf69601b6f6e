// Runs an engine on its own thread; knows nothing of JavaScript except the worker's deliveries.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "addon/worker.h"
#include "core/thread_pool.h"
#include "engine/engine.h"

namespace hone::addon {

/// Steps the engine while it has work. All steps since JavaScript last looked are one message: the engine never waits
/// for JavaScript, and JavaScript is woken once.
class EngineThread : public std::enable_shared_from_this<EngineThread> {
 public:
  struct Handlers {
    std::function<void(Napi::Env, const engine::StepOutput&)> on_message;
    std::function<void(Napi::Env, std::exception_ptr)> on_error;  // no further calls follow
    std::function<void()> on_end;  // once the thread is joined; also at teardown
  };
  /// Creates the engine on the calling thread, so that its errors are thrown here.
  EngineThread(const model::ModelConfig& model, const engine::EngineConfig& config);

  /// Call once, before anything else, on the JavaScript thread.
  void start(Napi::Env env, Handlers handlers);

  /// Any thread. False if the thread has stopped.
  bool submit(engine::Request request);
  bool abort(uint64_t request, int32_t attempt);
  bool set_weights(std::shared_ptr<const model::WeightSnapshot> weights);

  engine::EngineStats stats() const;
  Worker& worker() { return *worker_; }

 private:
  bool run_step();
  void guarded(const std::function<void()>& job);
  void publish();
  void flush(Napi::Env env);

  std::shared_ptr<ThreadPool> pool_;
  std::unique_ptr<engine::Engine> engine_;  // destroyed, with its cache, once the thread is joined
  engine::StepOutput step_;  // engine thread
  bool failed_ = false;      // engine thread
  mutable std::mutex mutex_;
  engine::EngineStats stats_;
  engine::StepOutput pending_, delivering_;  // not yet passed to JavaScript; being passed
  bool scheduled_ = false;
  Handlers handlers_;
  std::shared_ptr<Worker> worker_;
};

}  // namespace hone::addon
