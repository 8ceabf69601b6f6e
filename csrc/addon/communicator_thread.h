// A communicator over Gloo, with NCCL beside it where GPUs take part, and the thread on which JavaScript's calls wait for it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "addon/promise_job.h"
#include "addon/worker.h"
#include "dist/gloo_transport.h"
#include "dist/gpu_communicator.h"
#include "dist/host_communicator.h"

namespace hone::addon {

struct CommunicatorSettings {
  std::string host;
  int rank = 0, size = 0;
  std::chrono::milliseconds timeout{0};
};

/// connect() -> use() -> close(). Others use the communicator too, each for a whole job at a time.
class CommunicatorThread : public std::enable_shared_from_this<CommunicatorThread> {
 public:
  using Job = std::function<JobResult(dist::Communicator&)>;

  /// Listens from here on, on the calling thread, so that errors are thrown here.
  explicit CommunicatorThread(const CommunicatorSettings& settings);
  ~CommunicatorThread();

  /// Call once, before anything else, on the JavaScript thread.
  void start(Napi::Env env);

  int rank() const { return settings_.rank; }
  int size() const { return settings_.size; }

  /// JavaScript thread; once, before connect(). Throws kState afterwards.
  std::vector<std::string> prepare();
  Napi::Promise connect(Napi::Env env, std::vector<std::string> blobs);
  Napi::Promise run(Napi::Env env, Job job);
  Napi::Promise close(Napi::Env env);
  /// Any thread, also while a job waits.
  void abort(const std::string& reason);
  /// JavaScript thread. Registers a thread that will use() the group: at the end of the environment the group is
  /// aborted before that thread is joined, since it may be waiting for another rank.
  void abort_before_others(Napi::Env env);

  /// Any thread: lends the communicator to `f` exclusively until `f` returns. Throws kState unless it is connected. of:
  /// the stream whose memory `f` also exchanges, as for communicator().
  void use(const std::function<void(dist::Communicator&)>& f, Stream::Backend of = Stream::Backend::kCpu);
  /// For a caller that needs it for longer than a job; for a GPU, a communicator that also exchanges its memory. Throws
  /// kState unless it is connected, kUnsupported without NCCL.
  std::shared_ptr<dist::Communicator> communicator(Stream::Backend of = Stream::Backend::kCpu);
  Worker& worker() { return *worker_; }

 private:
  std::shared_ptr<dist::Communicator> whole() const;
  static void at_teardown(void* context);

  CommunicatorSettings settings_;
  mutable std::mutex mutex_;  // guards the members up to use_
  std::unique_ptr<dist::GlooTransport> transport_;  // until it is connected
  std::shared_ptr<dist::HostCommunicator> communicator_;
  std::shared_ptr<dist::GpuCommunicator> gpus_;  // wraps the other communicator; created at the first call
  bool called_ = false, aborted_ = false;  // by connect(); by abort()
  std::string why_;
  std::mutex use_;
  bool hooked_ = false;  // JavaScript thread only: at_teardown is to be called
  std::shared_ptr<Worker> worker_;
};

}  // namespace hone::addon
