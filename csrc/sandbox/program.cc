#include "sandbox/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>

namespace hone::sandbox {
namespace {

void set_nonblocking(int fd) {
  if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0) fail("fcntl");
}

}  // namespace

void fail(const char* what) {
  std::fprintf(stderr, "%s: %s\n", what, std::strerror(errno));
  _exit(1);
}

bool would_block() { return errno == EAGAIN || errno == EINTR; }

Program::Program(const Request& request)
    : request_(request), buffers_(request.size, {request.output_bytes, request.stderr_bytes, request.output_bytes}) {
  result_.number = request.number;
}

Program::~Program() {
  for (std::size_t which = 0; which < ours_.size(); ++which) close(which);
  if (exit_fd_ >= 0) ::close(exit_fd_);
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
  exit_fd_ = int(syscall(SYS_pidfd_open, pid, 0));
  if (exit_fd_ < 0) fail("pidfd_open");
  clock_ = RunClock(pid, now, request_.wall_ms / 1e3);
}

void Program::close(std::size_t which) {
  if (ours_[which] < 0) return;
  ::close(ours_[which]);
  ours_[which] = -1;
  if (which > 0) --open_;
}

void Program::move(std::size_t which) {
  if (which > 0) return collect(which - 1);
  if (!buffers_.give(ours_[0])) close(0);
}

void Program::collect(std::size_t which) {
  const RunBuffers::Took took = buffers_.take(which, ours_[which + 1]);
  if (took == RunBuffers::Took::kSome) return;
  if (took == RunBuffers::Took::kTooMuch) {
    is_too_much_ = true;
    kill();
  }
  close(which + 1);
}

void Program::keep_time(double now, uint32_t starved_times) {
  if (!is_running()) return;
  const Time time = clock_.look(now, starved_times);
  if (time == Time::kLeft) return;
  // Once set it stays set: a killed process may wait for a processor before it ends.
  is_slow_ = is_slow_ || time == Time::kSpent;
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
  // The system-call filter forbids runs to send SIGKILL: it comes from this server, from the kernel when all
  // processor time is used up, or from outside.
  if (WIFSIGNALED(code) && WTERMSIG(code) == SIGKILL) {
    result_.end = is_slow_ || cpu >= request_.cpu_seconds - kShort ? End::kTooSlow : End::kLost;
  }
  has_ended_ = true;
  pid_ = 0;
  ::close(exit_fd_);
  exit_fd_ = -1;
  close(0);
}

bool Program::send(int fd) {
  // Set only here, because the pipes of an ended process may still hold output.
  if (is_too_much_) result_.end = End::kTooMuchOutput;
  std::array<iovec, 4> parts{iovec{&result_, sizeof result_}};
  for (std::size_t which = 0; which < 3; ++which) {
    const std::span<std::byte> written = buffers_.written(which);
    result_.sizes[which] = uint32_t(written.size());
    parts[which + 1] = {written.data(), written.size()};
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
