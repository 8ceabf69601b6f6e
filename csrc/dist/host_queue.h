// Pending work of a host communicator, and the thread that runs it.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/error.h"
#include "dist/state.h"
#include "dist/transport.h"

namespace hone::dist {

/// Jobs run in order. One that throws ends the queue: the transport leaves at once, so that the others need
/// not wait for their time-outs; later jobs are lost; the next call that can throw rethrows the exception,
/// and calls after that one throw kState, or kAborted after abort(). Once a call has thrown, no job uses the
/// buffers any more.
class HostQueue {
 public:
  using Job = std::function<void()>;

  /// `transport` outlives the queue; its exchange() is called by jobs alone.
  explicit HostQueue(Transport& transport);
  /// Interrupts the running job.
  ~HostQueue();

  State state() const;
  void submit(const char* what, Job job);
  /// Returns when every job has run.
  void wait();
  /// Runs what is queued and then `last`, and leaves. Idempotent; once the queue has ended otherwise it only changes the
  /// state.
  void close(Job last);
  /// From any thread, at any time, idempotent.
  void abort(const std::string& reason);

 private:
  using Lock = std::unique_lock<std::mutex>;

  void serve();
  void run(Lock& lock, const Job& job);
  void push(Job job);
  void settle(Lock& lock);
  void require_ready(Lock& lock, const char* what);
  void end(State state, const std::string& why);

  Transport& transport_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> queue_;
  bool running_ = false;  // a job is using the buffers
  State state_ = State::kReady;
  std::string why_;              // cause of kFailed or kAborted
  std::optional<Error> untold_;  // exception of a job that no call has rethrown yet
  std::thread thread_;
};

}  // namespace hone::dist
