// Controls the stand-in for libnccl.so.2, and reads what it recorded. The library exports `fake_nccl()`.
#pragma once

#include <functional>

namespace hone::test {

/// Faults to inject; set before the ranks' threads start. -1: no rank has the fault.
struct Faults {
  int version = 22703;
  // number of polls for which an operation is "in progress"
  int init_polls = 0, enqueue_polls = 0, finalize_polls = 0;
  int init_hangs = -1;             // rank whose initialisation never ends, although all ranks have called
  int init_fails = -1;             // rank whose initialisation is refused at once
  int finalize_hangs = -1;
  int refused = -1, refused_at = 0;  // rank whose collective number refused_at is refused
  int breaks = -1, breaks_at = 0;    // rank that reports an error after its collective number breaks_at
  bool peers_notice = true;          // an abort appears as a remote error on the other ranks
};

class FakeNccl {
 public:
  virtual ~FakeNccl() = default;
  virtual void reset(const Faults& faults) = 0;
  /// From now on data is moved within a call of `reach`, which makes otherwise protected memory accessible.
  virtual void reach_by(std::function<void(const std::function<void()>&)> reach) = 0;
  /// True if all operations queued with this stream handle have run or are lost.
  virtual bool idle(void* stream) = 0;
  /// Waits until idle() is true or a rank has left the group, so that the stream's next work may begin. A
  /// wait `by_host` is a misuse unless idle() was true before: it has no time-out, and a lost peer would
  /// block it forever.
  virtual void await(void* stream, bool by_host) = 0;
  virtual int live() = 0;     // number of communicators neither destroyed nor aborted
  virtual int aborts() = 0;
  virtual int polls() = 0;    // number of queries for an asynchronous error
  /// Number of calls that the real library forbids: after the end, while an operation is in progress, or by
  /// two threads at once; and misuses of await().
  virtual int misuses() = 0;
};

}  // namespace hone::test
