#include "sandbox/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace hone::sandbox {
namespace {

constexpr std::size_t kAtOnce = 1 << 16;
/// Runs shorter than this are not worth asking the kernel about.
constexpr double kShort = 0.1;

bool would_block() { return errno == EAGAIN || errno == EINTR; }

void set_nonblocking(int fd) {
  if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0) fail("fcntl");
}

/// Seconds in which a process could have run, had there been a processor. Source: Linux, scheduler/sched-stats.rst.
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

void fail(const char* what) {
  std::fprintf(stderr, "%s: %s\n", what, std::strerror(errno));
  _exit(1);
}

Program::Program(const Request& request)
    : request_(request),
      bytes_(std::size_t(request.size) + 2 * std::size_t(request.output_bytes) + request.stderr_bytes + 1) {
  void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || madvise(memory, bytes_, MADV_DONTFORK) != 0) fail("memory for a run");
  memory_ = static_cast<std::byte*>(memory);
  result_.number = request.number;
}

Program::~Program() {
  for (std::size_t which = 0; which < ours_.size(); ++which) close(which);
  if (death_ >= 0) ::close(death_);
  munmap(memory_, bytes_);
}

bool Program::receive(int fd) {
  if (received_ < request_.size) {
    const ssize_t count = read(fd, memory_ + received_, request_.size - received_);
    if (count == 0) _exit(0);
    if (count < 0 && !would_block()) fail("read");
    received_ += std::size_t(std::max<ssize_t>(0, count));
  }
  return received_ == request_.size;
}

std::array<int, 4> Program::connect() {
  std::array<int, 4> theirs;
  for (std::size_t which = 0; which < 4; ++which) {
    int pair[2];
    if (pipe2(pair, O_CLOEXEC) != 0) fail("pipe");
    ours_[which] = pair[which == 0 ? 1 : 0];
    theirs[which] = pair[which == 0 ? 0 : 1];
    set_nonblocking(ours_[which]);
  }
  open_ = 3;
  return theirs;
}

void Program::started(pid_t pid, double now) {
  pid_ = pid;
  death_ = int(syscall(SYS_pidfd_open, pid, 0));
  if (death_ < 0) fail("pidfd_open");
  since_ = now;
  due_ = now + request_.wall_ms / 1e3;
}

std::byte* Program::output(std::size_t which) const {
  std::byte* at = memory_ + request_.size;
  for (std::size_t before = 0; before < which; ++before) at += cap(before);
  return at;
}

void Program::close(std::size_t which) {
  if (ours_[which] < 0) return;
  ::close(ours_[which]);
  ours_[which] = -1;
  if (which > 0) --open_;
}

void Program::move(std::size_t which) {
  if (which > 0) return collect(which - 1);
  const ssize_t count = write(ours_[0], memory_ + given_, request_.size - given_);
  if (count > 0) given_ += std::size_t(count);
  const bool refused = count < 0 && !would_block();
  if (refused || given_ == request_.size) close(0);
}

void Program::collect(std::size_t which) {
  uint32_t& size = sizes_[which];
  const std::size_t room = cap(which) - size;
  // Where there is no room, one byte more is too much.
  std::byte beyond;
  const ssize_t count = room == 0 ? read(ours_[which + 1], &beyond, 1)
                                  : read(ours_[which + 1], output(which) + size, std::min(room, kAtOnce));
  if (count < 0 && would_block()) return;
  if (count > 0 && room > 0) {
    size += uint32_t(count);
    return;
  }
  if (count > 0) {
    is_too_much_ = true;
    kill();
  }
  close(which + 1);
}

double Program::spent(double now) const {
  const double passed = now - since_;
  return passed < kShort ? passed : std::max(0.0, passed - starved(pid_));
}

void Program::keep_time(double now, uint32_t starved_times) {
  if (!is_running() || now < due_) return;
  const double limit = request_.wall_ms / 1e3;
  const double left = limit - spent(now);
  due_ = now + std::max(left, 1e-3);
  if (left > 0 && now - since_ < starved_times * limit) return;
  is_slow_ = true;
  due_ = now + 1;
  kill();
}

void Program::kill() const {
  if (is_running()) ::kill(pid_, SIGKILL);
}

void Program::ended(int code, double cpu, double spent) {
  result_.spent_us = uint32_t(spent * 1e6);
  result_.cpu_us = uint32_t(cpu * 1e6);
  result_.code = code;
  result_.end = End::kExited;
  // Its filter lets no run send this signal: it comes from us, from the kernel when all processor time is spent, or from
  // outside.
  if (WIFSIGNALED(code) && WTERMSIG(code) == SIGKILL) {
    result_.end = is_slow_ || cpu >= request_.cpu_seconds - kShort ? End::kTooSlow : End::kLost;
  }
  if (is_too_much_) result_.end = End::kTooMuchOutput;
  has_ended_ = true;
  pid_ = 0;
  ::close(death_);
  death_ = -1;
  close(0);
}

bool Program::send(int fd) {
  std::array<iovec, 4> parts{iovec{&result_, sizeof result_}};
  for (std::size_t which = 0; which < 3; ++which) {
    result_.sizes[which] = sizes_[which];
    parts[which + 1] = {output(which), sizes_[which]};
  }
  std::size_t skip = sent_, total = 0;
  for (iovec& part : parts) {
    total += part.iov_len;
    const std::size_t gone = std::min(skip, part.iov_len);
    part = {static_cast<std::byte*>(part.iov_base) + gone, part.iov_len - gone};
    skip -= gone;
  }
  const ssize_t count = writev(fd, parts.data(), int(parts.size()));
  if (count < 0 && errno == EPIPE) _exit(0);
  if (count < 0 && !would_block()) fail("write");
  sent_ += std::size_t(std::max<ssize_t>(0, count));
  return sent_ == total;
}

}  // namespace hone::sandbox
