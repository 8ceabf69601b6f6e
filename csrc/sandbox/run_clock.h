// The time limit of a run.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>

namespace hone::sandbox {

/// Seconds. The kernel is not asked about shorter runs.
inline constexpr double kShort = 0.1;

/// State of a run's time.
enum class Time : uint8_t {
  kLeft,
  /// It has used up its time limit.
  kSpent,
  /// It has waited for a processor for so long that it is given up, which is not the program's fault.
  kStarved,
};

/// Keeps the time of a process. All times are seconds of one clock.
class RunClock {
 public:
  RunClock() = default;
  RunClock(pid_t pid, double start, double limit) : pid_(pid), since_(start), limit_(limit), due_(start + limit) {}

  /// How long it ran, excluding the time in which it waited for a processor.
  double spent(double now) const;
  /// When to call look() next.
  double due() const { return due_; }
  /// kStarved: the process has existed for `starved_times` times its limit. The kernel counts a wait only
  /// once it is over, so a process that is ready to run and has not run since the last call has kLeft.
  Time look(double now, uint32_t starved_times);
  /// Part of the time since the last poll in which the whole machine stood still; 0 before the clock began.
  void stand_still(double seconds, double now) {
    const double own = std::min(seconds, now - since_);
    since_ += own, due_ += own;
  }

 private:
  pid_t pid_ = 0;
  double since_ = 0, limit_ = 0, due_ = 0;
  double ran_ = -1;  // at the last look, if it was over its limit then
};

/// Detects times in which everything stood still (stopped, frozen, starved), which count for no run.
class Standstill {
 public:
  explicit Standstill(double now) : looked_(now) {}

  /// Returns the seconds of standstill since the last poll. waited: longest expected time between two polls.
  double look(double now, double waited) {
    constexpr double kLate = 0.25;
    const double late = now - looked_ - waited;
    looked_ = now;
    return late < kLate ? 0 : late;
  }
  /// Time of the last poll. Runs' time is measured by this: only the next poll detects a standstill since then.
  double looked() const { return looked_; }

 private:
  double looked_;
};

}  // namespace hone::sandbox
