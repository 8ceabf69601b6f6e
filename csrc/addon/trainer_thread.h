// A trainer on a thread of its own; every job on it is a promise.
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

  /// Creates the trainer on the calling thread, so that its errors are thrown here. group: null for a single rank; each
  /// job has exclusive use of it. writers: a second group of the same ranks, for background writes.
  TrainerThread(const model::ModelConfig& model, const trainer::TrainerConfig& config,
                std::shared_ptr<CommunicatorThread> group = nullptr, std::shared_ptr<CommunicatorThread> writers = nullptr);

  /// Call once, before anything else, on the JavaScript thread.
  void start(Napi::Env env);

  /// JavaScript thread. Jobs run in order. The promise rejects with what the job throws, or with STATE if the thread
  /// stops first; the process and this object live until it is settled. `settled` is then called on the JavaScript
  /// thread, unless that is being torn down.
  Napi::Promise run(Napi::Env env, Job job, std::function<void(Napi::Env)> settled = nullptr);

  /// Call only within a job.
  trainer::Trainer& trainer() { return *trainer_; }
  /// Call only within a job: lends it a communicator, which may be its trainer's own.
  void use(CommunicatorThread& group, const std::function<void(dist::Communicator&)>& f);
  /// Call only within a job: passes the weights to an engine. A reader that learns of the version from the engine finds
  /// it here as well.
  void publish(EngineThread& engine);

  /// Call only within a job: copies the state, which a separate thread then writes to a folder. Both wait for a write
  /// in progress. Throws the trainer's errors; kState for ranks without `writers`.
  void stage(const std::string& directory, const std::string& extra);
  void save(const std::string& directory, const std::string& extra);
  /// JavaScript thread: settles when the last staged checkpoint is written, or with the error that prevented it.
  Napi::Promise written(Napi::Env env);
  /// JavaScript thread: closes the trainer's worker and the writer's as Worker::close does.
  Napi::Promise close(Napi::Env env);
  void abandon();

  /// Any thread: the version after the last job that ended, or the one published since.
  uint32_t version() const { return version_; }
  const model::ModelConfig& model() const { return model_; }
  Worker& worker() { return *worker_; }

 private:
  void write(const std::string& directory);
  void await_writer();

  model::ModelConfig model_;
  std::shared_ptr<ThreadPool> pool_;
  std::shared_ptr<CommunicatorThread> group_;
  std::shared_ptr<dist::Communicator> ranks_;  // outlives the trainer
  std::unique_ptr<trainer::Trainer> trainer_;  // destroyed once the thread is joined
  std::atomic<uint32_t> version_{0};
  std::shared_ptr<Worker> worker_;

  std::shared_ptr<CommunicatorThread> writers_;
  trainer::StagedCheckpoint staged_;     // used by the writer while it writes, otherwise by the trainer
  std::exception_ptr write_failure_;     // of the last background write
  std::mutex mutex_;                     // guards writing_
  std::condition_variable idle_;
  bool writing_ = false;
  std::shared_ptr<Worker> writer_;
};

}  // namespace hone::addon
