// A thread with a queue of jobs; independent of JavaScript.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace hone::addon {

/// Runs jobs in order. Call start(), then stop(), then join(). stop() cancels the jobs that are queued behind
/// the one in progress.
class JobThread {
 public:
  using Job = std::function<void()>;

  JobThread() = default;
  JobThread(const JobThread&) = delete;
  JobThread& operator=(const JobThread&) = delete;
  /// Waits for the thread to end; the owner must have called stop().
  ~JobThread() { join(); }

  /// `idle` runs on the thread whenever the queue is empty; it returns false to sleep until the next job, and
  /// must not throw. It is destroyed by join(), on the thread that calls join(). `ended` is the last function
  /// called on the thread.
  void start(std::function<bool()> idle, Job ended);

  /// May be called from any thread. If the thread stops before `run` starts, `cancelled` is called instead,
  /// on this object's thread. Returns false, and calls neither, if it has stopped already.
  bool post(Job run, Job cancelled);
  void stop();
  bool stopped() const;
  /// Waits for the thread to end. Idempotent.
  void join();

 private:
  struct Entry {
    Job run, cancelled;
  };
  void loop();
  void cancel_rest();

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Entry> mailbox_;
  bool stop_ = false;
  std::function<bool()> idle_;
  std::thread thread_;
};

}  // namespace hone::addon
