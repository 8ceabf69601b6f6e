// One sandboxed run of the program server: its process, its job, its output and its result.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "sandbox/run_buffers.h"
#include "sandbox/run_clock.h"

namespace hone::sandbox {

/// Prints `what` and the system's error text, and ends the process.
[[noreturn]] void fail(const char* what);
/// True if the read or write that just failed would have blocked and may be tried again.
bool would_block();

/// A request as the host sends it, followed by the job. `size`: bytes of the job, or kCallOff to kill the
/// run.
struct Request {
  uint32_t number, size, wall_ms, cpu_seconds;
  uint64_t memory_bytes;
  uint32_t output_bytes, stderr_bytes;
};
static_assert(sizeof(Request) == 32);
inline constexpr uint32_t kCallOff = 0xffffffff;

enum class End : uint8_t { kExited, kTooSlow, kTooMuchOutput, kLost };

/// A result as the host receives it, followed by the output on descriptors 1, 2 and 3. `code`: status from
/// waitpid.
struct __attribute__((packed)) Result {
  uint32_t number;
  End end;
  int32_t code;
  uint32_t spent_us, cpu_us;
  uint32_t sizes[3];
};
static_assert(sizeof(Result) == 29);

/// A run: its process, its pipes, and its result.
class Program {
 public:
  explicit Program(const Request& request);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const Request& request() const { return request_; }
  pid_t pid() const { return pid_; }
  bool is_running() const { return pid_ > 0; }
  /// True if the process has ended and its output pipes are closed, so that no output will follow.
  bool is_over() const { return has_ended_ && open_ == 0; }

  /// Reads a part of the job from `fd`; returns true once the job is complete.
  bool receive(int fd) { return buffers_.receive(fd); }
  /// Creates the pipes and returns the ends for the run's process: job, output, errors, report.
  std::array<int, 4> connect();
  void started(pid_t pid, double now);

  /// Descriptors to poll, -1 where there is none: the pipe of the job, then those of the three outputs.
  const std::array<int, 4>& descriptors() const { return ours_; }
  /// Becomes readable when the process ends; -1 after it was reaped.
  int exit_fd() const { return exit_fd_; }
  /// Writes a part of the job, or reads a part of an output; kills the process if it has written too much.
  /// which: index into descriptors().
  void move(std::size_t which);

  /// Seconds for which the run has had a processor, or has slept; waiting for a processor does not count.
  double spent(double now) const { return clock_.spent(now); }
  /// due(): when to call keep_time next, which kills the process if it ran, or waited to run, for too long.
  double due() const { return clock_.due(); }
  void keep_time(double now, uint32_t starved_times);
  void stand_still(double seconds, double now) { clock_.stand_still(seconds, now); }
  void kill() const;
  /// Must be called after the process was reaped. code: from waitpid; cpu, spent: seconds of cpu, and in all.
  void ended(int code, double cpu, double spent);

  /// Sends a part of the result to `fd`; returns true once all of it is sent.
  bool send(int fd);

 private:
  void close(std::size_t which);
  void collect(std::size_t which);

  Request request_;
  RunBuffers buffers_;
  RunClock clock_;
  std::size_t sent_ = 0;
  std::array<int, 4> ours_{-1, -1, -1, -1};
  int open_ = 0;  // number of the three output pipes that are open
  pid_t pid_ = 0;
  int exit_fd_ = -1;
  bool is_slow_ = false, is_too_much_ = false, has_ended_ = false;
  Result result_{};
};

}  // namespace hone::sandbox
