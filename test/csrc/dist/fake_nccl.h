// How a test controls the stand-in for libnccl.so.2, and asks what it saw. The library exports `fake_nccl()`.
#pragma once

#include <functional>

namespace hone::test {

/// Faults to inject, set before the ranks' threads start. -1 stands for no rank.
struct Faults {
  int version = 22703;
  int init_polls = 0, enqueue_polls = 0, finalize_polls = 0;  // "in progress" for so many polls
  int init_hangs = -1;             // this rank's initialisation never ends, though all ranks have called
  int init_fails = -1;             // this rank's initialisation is refused at once
  int finalize_hangs = -1;
  int refused = -1, refused_at = 0;  // this rank's collective of that number is refused
  int breaks = -1, breaks_at = 0;    // after its collective of that number this rank reports an error
  bool peers_notice = true;          // an abort shows as a remote error at the other ranks
};

class FakeNccl {
 public:
  virtual ~FakeNccl() = default;
  virtual void reset(const Faults& faults) = 0;
  /// From now on data are moved within a call of `reach`, for memory that is closed otherwise.
  virtual void reach_by(std::function<void(const std::function<void()>&)> reach) = 0;
  /// True if all operations queued with this handle have run or are lost.
  virtual bool idle(void* stream) = 0;
  /// Returns when idle() is true, or when a rank has left the group, so that the stream's next work may
  /// begin. A wait `by_host` is a misuse unless idle() was true before: it has no time-out, and a lost peer
  /// would keep it for ever.
  virtual void await(void* stream, bool by_host) = 0;
  virtual int live() = 0;     // number of communicators neither destroyed nor aborted
  virtual int aborts() = 0;
  virtual int polls() = 0;    // how often an asynchronous error was asked for
  /// How many calls the real library forbids: after the end, while something is in progress, by two threads
  /// at once; and those of await() above.
  virtual int misuses() = 0;
};

}  // namespace hone::test
