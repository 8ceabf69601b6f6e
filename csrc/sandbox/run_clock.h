// The time limit of a run.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>

namespace hone::sandbox {

/// In seconds. For runs shorter than this the kernel's scheduling statistics are not read.
inline constexpr double kShort = 0.1;

/// Whether a run may continue.
enum class Time : uint8_t {
  kLeft,
  /// The run has used up its time limit.
  kSpent,
  /// The run has waited for a processor for so long that the server gives it up, which is not the program's
  /// fault.
  kStarved,
};

/// Measures the time of one run's process. All times are seconds of one clock.
class RunClock {
 public:
  RunClock() = default;
  RunClock(pid_t pid, double start, double limit) : pid_(pid), since_(start), limit_(limit), due_(start + limit) {}

  /// How long the process has run, without the time in which it waited for a processor.
  double spent(double now) const;
  /// When to call look() next.
  double due() const { return due_; }
  /// Judges the run's time. kStarved: the process has existed for `starved_times` times its limit. The kernel
  /// counts a wait only once it is over; so a process that is ready to run, and has not run since the last
  /// call, gets kLeft.
  Time look(double now, uint32_t starved_times);
  /// Excludes `seconds` in which the whole machine stood still from the run's time, as far as they lie after
  /// the run's start.
  void stand_still(double seconds, double now) {
    const double own = std::min(seconds, now - since_);
    since_ += own, due_ += own;
  }

 private:
  pid_t pid_ = 0;
  double since_ = 0, limit_ = 0, due_ = 0;
  double ran_ = -1;  // time it had run at the last look(), if that was over its limit; otherwise -1
};

/// Detects periods in which the whole machine stood still (stopped, frozen, starved), which count for no run.
class Standstill {
 public:
  explicit Standstill(double now) : looked_(now) {}

  /// Returns the seconds of standstill since the last call. waited: longest expected time between two calls.
  double look(double now, double waited) {
    constexpr double kLate = 0.25;
    const double late = now - looked_ - waited;
    looked_ = now;
    return late < kLate ? 0 : late;
  }
  /// Time of the last look(). The time of runs is measured up to it, since only the next look() can detect a
  /// later standstill.
  double looked() const { return looked_; }

 private:
  double looked_;
};

}  // namespace hone::sandbox
