// A thread with a mailbox; knows no JavaScript.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace hone::addon {

/// Runs jobs in order. Life: start() -> stop() -> join(); jobs queued at stop() behind the one in progress are
/// cancelled.
class JobThread {
 public:
  using Job = std::function<void()>;

  JobThread() = default;
  JobThread(const JobThread&) = delete;
  JobThread& operator=(const JobThread&) = delete;
  /// Waits for the thread to end; the caller must have stopped it.
  ~JobThread() { join(); }

  /// `idle` runs on the thread whenever the mailbox is empty; it returns false to sleep until the next job, and must not
  /// throw. It is destroyed by join(), on the thread that joins. `ended` is the last call on the thread.
  void start(std::function<bool()> idle, Job ended);

  /// Any thread. `cancelled` is called instead of `run`, on this object's thread, if that stops first. Returns false
  /// (and calls neither) if it has stopped already.
  bool post(Job run, Job cancelled);
  void stop();
  bool stopped() const;
  /// Idempotent.
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
