#include "sandbox/run_clock.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace hone::sandbox {
namespace {

/// Seconds in which a process was ready to run but had no processor. Source: Linux, scheduler/sched-stats.rst.
double starved(pid_t pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/schedstat", int(pid));
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[96] = {};
  const ssize_t count = read(fd, text, sizeof text - 1);
  ::close(fd);
  unsigned long long ran = 0, waited = 0;
  return count > 0 && std::sscanf(text, "%llu %llu", &ran, &waited) == 2 ? double(waited) / 1e9 : 0;
}

}  // namespace

double RunClock::spent(double now) const {
  const double passed = now - since_;
  return passed < kShort ? passed : std::max(0.0, passed - starved(pid_));
}

Time RunClock::look(double now, uint32_t starved_times) {
  if (now < due_) return Time::kLeft;
  const double left = limit_ - spent(now);
  if (left > 0 && now - since_ < starved_times * limit_) {
    due_ = now + std::max(left, 1e-3);
    return Time::kLeft;
  }
  due_ = now + 1;
  return left > 0 ? Time::kStarved : Time::kSpent;
}

}  // namespace hone::sandbox
