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

/// Runs jobs in order. A job that throws ends the queue: the transport leaves the group at once, so that the
/// other ranks need not wait for their time-outs, and later jobs are lost. The next call that can throw
/// rethrows the exception; calls after that one throw kState, or kAborted after abort(). Once a call has
/// thrown, no job uses the buffers any more.
class HostQueue {
 public:
  using Job = std::function<void()>;

  /// `transport` must outlive the queue; only jobs may call its exchange().
  explicit HostQueue(Transport& transport);
  /// Interrupts the running job.
  ~HostQueue();

  State state() const;
  void submit(const char* what, Job job);
  /// Returns when every job submitted so far has run.
  void wait();
  /// Runs the queued jobs, then `last`, and leaves the group. Idempotent; if the queue has already failed or
  /// been aborted, only the state changes.
  void close(Job last);
  /// May be called from any thread at any time; idempotent.
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
