// What a test tells the stand-in for libnccl.so.2, and what it saw. The library exports `fake_nccl()`.
#pragma once

#include <functional>

namespace hone::test {

/// Set before the ranks' threads start. Ranks are of the communicator; -1: none.
struct Faults {
  int version = 22703;
  int init_polls = 0, enqueue_polls = 0, finalize_polls = 0;  // "in progress" for so many polls
  int init_hangs = -1;             // its initialisation never ends, though all have come
  int init_fails = -1;             // refused at once
  int finalize_hangs = -1;
  int refused = -1, refused_at = 0;  // its collective of that number is refused
  int breaks = -1, breaks_at = 0;    // after its collective of that number it reports a system error
  bool peers_notice = true;          // an abort shows as a remote error at the other ranks
};

class FakeNccl {
 public:
  virtual ~FakeNccl() = default;
  virtual void reset(const Faults& faults) = 0;
  /// From now on data are moved by `reach`(what moves them): where they lie in memory that is closed otherwise.
  virtual void reach_by(std::function<void(const std::function<void()>&)> reach) = 0;
  /// True when all operations queued with this handle have run or are lost.
  virtual bool idle(void* stream) = 0;
  /// Returns when that is so, or a rank left the group: what comes after them on a stream. by_host: a wait without a time-out
  /// is a misuse unless idle() has said before that nothing is left, since a lost peer would keep it for ever.
  virtual void await(void* stream, bool by_host) = 0;
  virtual int live() = 0;     // communicators neither destroyed nor aborted
  virtual int aborts() = 0;
  virtual int polls() = 0;    // of asynchronous errors
  /// Calls that the real library forbids: after the end, while something is in progress, two threads at once. Also those of
  /// await() above.
  virtual int misuses() = 0;
};

}  // namespace hone::test
