// Runs an engine on its own thread; uses JavaScript only to deliver results.
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

/// Steps the engine while it has work. All steps since the last delivery to JavaScript are one message, so
/// that the engine never waits for JavaScript, and JavaScript is woken once.
class EngineThread : public std::enable_shared_from_this<EngineThread> {
 public:
  struct Handlers {
    std::function<void(Napi::Env, const engine::StepOutput&)> on_message;
    // called at most once; after it only on_end is called
    std::function<void(Napi::Env, std::exception_ptr)> on_error;
    std::function<void()> on_end;  // called when the thread has been joined, also at teardown
  };
  /// Creates the engine on the calling thread, so that its errors are thrown from the constructor.
  EngineThread(const model::ModelConfig& model, const engine::EngineConfig& config);

  /// Must be called once, before any other method, on the JavaScript thread.
  void start(Napi::Env env, Handlers handlers);

  /// May be called from any thread. Return false if the thread has stopped.
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
  std::unique_ptr<engine::Engine> engine_;  // destroyed, with its KV cache, when the thread has been joined
  engine::StepOutput step_;  // used by the engine's thread only
  bool failed_ = false;      // used by the engine's thread only
  mutable std::mutex mutex_;
  engine::EngineStats stats_;
  engine::StepOutput pending_, delivering_;  // results not yet passed to JavaScript; results being passed
  bool scheduled_ = false;
  Handlers handlers_;
  std::shared_ptr<Worker> worker_;
};

}  // namespace hone::addon
