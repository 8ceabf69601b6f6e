// A communicator over Gloo, with NCCL in addition if ranks have GPUs, and the thread on which calls from
// JavaScript wait.
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

/// Call connect(), then use() any number of times, then close(). Trainers and engines use the communicator
/// too, each exclusively for a whole job.
class CommunicatorThread : public std::enable_shared_from_this<CommunicatorThread> {
 public:
  using Job = std::function<JobResult(dist::Communicator&)>;

  /// Starts to listen on the calling thread, so that errors are thrown from the constructor.
  explicit CommunicatorThread(const CommunicatorSettings& settings);
  ~CommunicatorThread();

  /// Must be called once, before any other method, on the JavaScript thread.
  void start(Napi::Env env);

  int rank() const { return settings_.rank; }
  int size() const { return settings_.size; }

  /// Call on the JavaScript thread; once, before connect(). Throws kState after that.
  std::vector<std::string> prepare();
  Napi::Promise connect(Napi::Env env, std::vector<std::string> blobs);
  Napi::Promise run(Napi::Env env, Job job);
  Napi::Promise close(Napi::Env env);
  /// May be called from any thread, also while a job waits.
  void abort(const std::string& reason);
  /// Call on the JavaScript thread, before a thread is started that will use() the group: at the end of the
  /// environment the group is then aborted before that thread is joined, since the thread may be waiting for
  /// another rank.
  void abort_before_others(Napi::Env env);

  /// May be called from any thread: calls `f` with the communicator and exclusive use of it. Throws kState
  /// unless it is connected. of: backend of the streams whose memory `f` exchanges, as in communicator().
  void use(const std::function<void(dist::Communicator&)>& f, Stream::Backend of = Stream::Backend::kCpu);
  /// The communicator, for callers that need it for longer than one job. With `of` a GPU, the returned
  /// communicator also exchanges GPU memory. Throws kState unless it is connected, kUnsupported without NCCL.
  std::shared_ptr<dist::Communicator> communicator(Stream::Backend of = Stream::Backend::kCpu);
  Worker& worker() { return *worker_; }

 private:
  std::shared_ptr<dist::Communicator> whole() const;
  static void at_teardown(void* context);

  CommunicatorSettings settings_;
  mutable std::mutex mutex_;  // guards the members from here to gpus_ and the flags
  std::unique_ptr<dist::GlooTransport> transport_;  // null once it is connected
  std::shared_ptr<dist::HostCommunicator> communicator_;
  // wraps communicator_; created at the first call that needs it
  std::shared_ptr<dist::GpuCommunicator> gpus_;
  bool called_ = false, aborted_ = false;  // connect() was called; abort() was called
  std::string why_;
  std::mutex use_;
  bool hooked_ = false;  // used by the JavaScript thread only: at_teardown is registered
  std::shared_ptr<Worker> worker_;
};

}  // namespace hone::addon
