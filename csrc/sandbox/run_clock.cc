#include "sandbox/run_clock.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>

namespace hone::sandbox {
namespace {

constexpr double kLookAgain = 0.01;  // seconds

struct Times {
  // in seconds; waited: time ready to run but without a processor, completed waits only
  double ran = 0, waited = 0;
  bool ready = false;          // ready to run, or running
};

/// Reads as much of /proc/<pid>/<name> as fits into `text`; leaves it empty if the file does not exist.
void read_of(pid_t pid, const char* name, std::span<char> text) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/%s", int(pid), name);
  text[0] = 0;
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  const ssize_t count = ::read(fd, text.data(), text.size() - 1);
  ::close(fd);
  text[size_t(std::max<ssize_t>(0, count))] = 0;
}

/// Reads a process's scheduling statistics. Source: Linux, scheduler/sched-stats.rst and
/// filesystems/proc.rst.
Times times_of(pid_t pid) {
  char text[512];
  Times times;
  read_of(pid, "schedstat", text);
  unsigned long long ran = 0, waited = 0;
  if (std::sscanf(text, "%llu %llu", &ran, &waited) == 2) times.ran = double(ran) / 1e9, times.waited = double(waited) / 1e9;
  read_of(pid, "stat", text);
  const char* const named = std::strrchr(text, ')');  // a name may contain parentheses
  times.ready = named && std::strncmp(named, ") R", 3) == 0;
  return times;
}

}  // namespace

double RunClock::spent(double now) const {
  const double passed = now - since_;
  return passed < kShort ? passed : std::max(0.0, passed - times_of(pid_).waited);
}

Time RunClock::look(double now, uint32_t starved_times) {
  if (now < due_) return Time::kLeft;
  const Times times = times_of(pid_);
  const double passed = now - since_, left = limit_ - std::max(0.0, passed - times.waited);
  const bool waits = left <= 0 && times.ready && (ran_ < 0 || times.ran == ran_);
  ran_ = left <= 0 ? times.ran : -1;
  if ((left > 0 || waits) && passed < starved_times * limit_) {
    due_ = now + std::max(left, kLookAgain);
    return Time::kLeft;
  }
  due_ = now + 1;
  return left > 0 || waits ? Time::kStarved : Time::kSpent;
}

}  // namespace hone::sandbox
