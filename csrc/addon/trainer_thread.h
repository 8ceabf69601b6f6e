// A trainer with its own thread; each job that runs on the thread is a promise for JavaScript.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "addon/communicator_thread.h"
#include "addon/engine_thread.h"
#include "addon/promise_job.h"
#include "addon/worker.h"
#include "core/thread_pool.h"
#include "trainer/trainer.h"

namespace hone::addon {

class TrainerThread : public std::enable_shared_from_this<TrainerThread> {
 public:
  using Result = JobResult;
  using Job = std::function<Result(TrainerThread&)>;

  /// Creates the trainer on the calling thread, so that its errors are thrown from the constructor. group:
  /// null for a single rank; each job has exclusive use of it. writers: a second group of the same ranks, for
  /// writing checkpoints in the background.
  TrainerThread(const model::ModelConfig& model, const trainer::TrainerConfig& config,
                std::shared_ptr<CommunicatorThread> group = nullptr, std::shared_ptr<CommunicatorThread> writers = nullptr);

  /// Must be called once, before any other method, on the JavaScript thread.
  void start(Napi::Env env);

  /// Call on the JavaScript thread. Jobs run in order. The promise rejects with the exception that the job
  /// throws, or with STATE if the thread stops first; until it is settled, the process and this object stay
  /// alive. `settled` is then called on the JavaScript thread, unless JavaScript is being torn down.
  Napi::Promise run(Napi::Env env, Job job, std::function<void(Napi::Env)> settled = nullptr);

  /// Call only within a job.
  trainer::Trainer& trainer() { return *trainer_; }
  /// Call only within a job: calls `f` with the communicator of `group`, which may be the trainer's own
  /// group.
  void use(CommunicatorThread& group, const std::function<void(dist::Communicator&)>& f);
  /// Call only within a job: passes the weights to an engine. version() is updated first, so that a reader
  /// that learns of the version from the engine finds it here as well.
  void publish(EngineThread& engine);

  /// Call only within a job. stage() copies the trainer's state, which a separate thread then writes to a
  /// folder; save() writes it itself. Both wait for a write in progress. Throw the trainer's errors; kState
  /// for ranks without `writers`.
  void stage(const std::string& directory, const std::string& extra);
  void save(const std::string& directory, const std::string& extra);
  /// Call on the JavaScript thread: the promise settles when the last staged checkpoint is written, or
  /// rejects with the error that prevented it.
  Napi::Promise written(Napi::Env env);
  /// Call on the JavaScript thread: closes the trainer's worker and the writer's worker (Worker::close).
  Napi::Promise close(Napi::Env env);
  void abandon();

  /// May be called from any thread: the version after the last job that ended, or the version published
  /// since.
  uint32_t version() const { return version_; }
  const model::ModelConfig& model() const { return model_; }
  Worker& worker() { return *worker_; }

 private:
  void write(const std::string& directory);
  void await_writer();

  model::ModelConfig model_;
  std::shared_ptr<ThreadPool> pool_;
  std::shared_ptr<CommunicatorThread> group_;
  std::shared_ptr<dist::Communicator> ranks_;  // must outlive trainer_
  std::unique_ptr<trainer::Trainer> trainer_;  // destroyed when the thread has been joined
  std::atomic<uint32_t> version_{0};
  std::shared_ptr<Worker> worker_;

  std::shared_ptr<CommunicatorThread> writers_;
  // owned by the writer's thread while it writes, otherwise by the trainer's
  trainer::StagedCheckpoint staged_;
  std::exception_ptr write_failure_;     // error of the last background write
  std::mutex mutex_;                     // guards writing_
  std::condition_variable idle_;
  bool writing_ = false;
  std::shared_ptr<Worker> writer_;
};

}  // namespace hone::addon
