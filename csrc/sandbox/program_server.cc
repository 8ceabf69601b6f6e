#include "sandbox/program_server.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "sandbox/program.h"

namespace hone::sandbox {
namespace {

/// Bytes of memory that a run may take in addition to its request, for its interpreter.
constexpr uint64_t kOwnBytes = 256u << 20;
constexpr int kFirstUnused = 4;
/// Seconds between two polls while programs run.
constexpr double kLook = 0.1;
/// Entries of the poll set: two for requests and results, then for each run its four descriptors and its exit
/// descriptor.
constexpr std::size_t kFixed = 2, kDeath = 4, kEach = 5;

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) + double(time.tv_nsec) / 1e9;
}

/// The entries of a folder of /proc whose names are numbers, such as process ids.
std::vector<int> numbers_in(const char* path) {
  std::vector<int> found;
  DIR* folder = opendir(path);
  if (folder == nullptr) fail(path);
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] != '.') found.push_back(std::atoi(entry->d_name));
  }
  closedir(folder);
  return found;
}

/// Whether every thread but this one sleeps. Source: Linux, proc_pid_stat(5), where the name in parentheses
/// may hold any characters.
bool is_quiet() {
  for (const int thread : numbers_in("/proc/self/task")) {
    if (thread == gettid()) continue;
    const std::string path = "/proc/self/task/" + std::to_string(thread) + "/stat";
    std::FILE* file = std::fopen(path.c_str(), "re");
    if (file == nullptr) continue;  // the thread has ended
    char text[256] = {};
    if (std::fgets(text, sizeof text, file) == nullptr) text[0] = '\0';
    std::fclose(file);
    const char* name_end = std::strrchr(text, ')');
    if (name_end != nullptr && name_end[1] == ' ' && name_end[2] != 'S') return false;
  }
  return true;
}

/// Waits until all other threads sleep: a working thread could hold a lock, which a forked process could
/// never take.
void wait_for_quiet() {
  constexpr int kTimes = 5;
  for (int times = 0; times < kTimes; times = is_quiet() ? times + 1 : 0) usleep(5000);
}

/// Makes forks copy all memory: JavaScript engines exclude their memory from forks, to make starting other
/// programs cheap.
void let_memory_fork() {
  std::FILE* maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) fail("/proc/self/maps");
  char line[1024];
  unsigned long from = 0, to = 0;
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    if (std::sscanf(line, "%lx-%lx", &from, &to) == 2)
      // fails only for device memory, which the runs do not need
      madvise(reinterpret_cast<void*>(from), to - from, MADV_DOFORK);
  }
  std::fclose(maps);
}

/// Private writable memory in bytes, as RLIMIT_DATA counts it. Source: Linux, proc_pid_statm(5).
uint64_t data_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  unsigned long long data = 0;
  if (file == nullptr || std::fscanf(file, "%*u %*u %*u %*u %*u %llu", &data) != 1) fail("/proc/self/statm");
  std::fclose(file);
  return data * uint64_t(sysconf(_SC_PAGESIZE));
}

/// Opens /dev/null at a descriptor number that no pipe of a run uses.
int open_nothing() {
  const int opened = open("/dev/null", O_RDWR | O_CLOEXEC);
  const int moved = fcntl(opened, F_DUPFD_CLOEXEC, kFirstUnused);
  if (moved < 0) fail("/dev/null");
  close(opened);
  return moved;
}

void limit(__rlimit_resource_t what, uint64_t value) {
  rlimit bound{};
  if (getrlimit(what, &bound) != 0) fail("getrlimit");
  bound.rlim_cur = bound.rlim_max = std::min<rlim_t>(bound.rlim_max, value);
  if (setrlimit(what, &bound) != 0) fail("setrlimit");
}

class Server {
 public:
  Server(std::span<const uint8_t> filter, uint32_t starved_times);
  /// Serves requests; returns only in the process of a run.
  uint64_t run();

 private:
  using Owned = std::unique_ptr<Program>;

  void wait();
  /// Reads requests; returns true in the process of a run.
  bool take_request();
  bool start(Owned program);
  void become(const std::array<int, 4>& fds, const Request& request) const;
  void confine(const Request& request) const;
  void reap(Program& program) const;
  void finish();

  std::vector<uint8_t> filter_;
  uint32_t starved_times_;
  pid_t own_ = getpid();
  int nothing_ = -1, highest_ = 0;
  Standstill standstill_{now()};
  Request request_{};
  std::size_t request_bytes_ = 0;
  Owned incoming_;
  std::vector<Owned> running_;
  std::deque<Owned> outgoing_;
  std::vector<pollfd> polled_;
};

Server::Server(std::span<const uint8_t> filter, uint32_t starved_times)
    : filter_(filter.begin(), filter.end()), starved_times_(starved_times) {
  if (filter.empty() || filter.size() % sizeof(sock_filter) != 0) {
    errno = EINVAL;
    fail("filter of system calls");
  }
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  nothing_ = open_nothing();
  if (fcntl(3, F_GETFD) < 0 && dup2(nothing_, 3) != 3) fail("dup2");
  if (fcntl(1, F_SETFL, O_NONBLOCK) < 0) fail("fcntl");
  for (const int fd : numbers_in("/proc/self/fd")) highest_ = std::max(highest_, fd);
  wait_for_quiet();
  let_memory_fork();
}

uint64_t Server::run() {
  for (;;) {
    wait();
    if (polled_[0].revents != 0 && take_request()) return request_.memory_bytes;
    for (std::size_t at = kFixed; at < polled_.size(); ++at) {
      if (polled_[at].revents == 0) continue;
      Program& program = *running_[(at - kFixed) / kEach];
      const std::size_t which = (at - kFixed) % kEach;
      if (which == kDeath) {
        reap(program);
      } else if (polled_[at].fd == program.descriptors()[which]) {  // still open
        program.move(which);
      }
    }
    for (const Owned& program : running_) program->keep_time(standstill_.looked(), starved_times_);
    finish();
  }
}

void Server::wait() {
  const short to_send = outgoing_.empty() ? 0 : POLLOUT;
  polled_ = {{0, POLLIN, 0}, {to_send != 0 ? 1 : -1, to_send, 0}};
  double due = std::numeric_limits<double>::infinity();
  for (const Owned& program : running_) {
    for (std::size_t which = 0; which < kDeath; ++which)
      polled_.push_back({program->descriptors()[which], short(which == 0 ? POLLOUT : POLLIN), 0});
    polled_.push_back({program->exit_fd(), POLLIN, 0});
    if (program->is_running()) due = std::min(due, program->due());
  }
  const double left = std::min(kLook, std::max(0.0, due - now()));
  if (poll(polled_.data(), polled_.size(), std::isinf(due) ? -1 : int(std::ceil(left * 1e3))) < 0 && errno != EINTR) fail("poll");
  const double stood = standstill_.look(now(), std::isinf(due) ? due : left);
  for (const Owned& program : running_) program->stand_still(stood, standstill_.looked());
}

bool Server::take_request() {
  if (incoming_ == nullptr) {
    const ssize_t count =
        read(0, reinterpret_cast<std::byte*>(&request_) + request_bytes_, sizeof request_ - request_bytes_);
    if (count == 0) _exit(0);
    if (count < 0 && errno != EAGAIN && errno != EINTR) fail("read");
    request_bytes_ += std::size_t(std::max<ssize_t>(0, count));
    if (request_bytes_ < sizeof request_) return false;
    request_bytes_ = 0;
    if (request_.size == kCallOff) {
      for (const Owned& program : running_)
        if (program->request().number == request_.number) program->kill();
      return false;
    }
    incoming_ = std::make_unique<Program>(request_);
    if (request_.size > 0) return false;
  }
  return incoming_->receive(0) && start(std::move(incoming_));
}

bool Server::start(Owned program) {
  const std::array<int, 4> theirs = program->connect();
  for (const int fd : theirs) highest_ = std::max(highest_, fd);
  for (const int fd : program->descriptors()) highest_ = std::max(highest_, fd);
  const double before = now();
  const pid_t pid = fork();
  if (pid < 0) fail("fork");
  if (pid == 0) {
    become(theirs, program->request());
    (void)program.release();  // frees nothing: the fork did not copy the program's memory
    return true;
  }
  for (const int fd : theirs) close(fd);
  program->started(pid, before);
  highest_ = std::max(highest_, program->exit_fd());
  running_.push_back(std::move(program));
  return false;
}

void Server::become(const std::array<int, 4>& fds, const Request& request) const {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != own_) _exit(1);
  for (int to = 0; to < kFirstUnused; ++to) {
    if (dup2(fds[std::size_t(to)], to) != to) fail("dup2");
  }
  // Replaced by /dev/null, not closed: code that owns a descriptor may still write to it.
  for (int fd = kFirstUnused; fd <= highest_; ++fd) {
    if (fd != nothing_ && dup2(nothing_, fd) != fd) fail("dup2");
  }
  confine(request);
}

void Server::confine(const Request& request) const {
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, request.cpu_seconds);
  limit(RLIMIT_DATA, data_bytes() + request.memory_bytes + kOwnBytes);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("no_new_privs");
  std::vector<sock_filter> steps(filter_.size() / sizeof(sock_filter));
  std::memcpy(steps.data(), filter_.data(), steps.size() * sizeof(sock_filter));
  sock_fprog program{static_cast<unsigned short>(steps.size()), steps.data()};
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) fail("seccomp");
}

void Server::reap(Program& program) const {
  const double spent = program.spent(standstill_.looked());  // read before the process is reaped
  int code = 0;
  rusage usage{};
  if (wait4(program.pid(), &code, 0, &usage) < 0) fail("wait4");
  const auto seconds = [](const timeval& t) { return double(t.tv_sec) + double(t.tv_usec) / 1e6; };
  program.ended(code, seconds(usage.ru_utime) + seconds(usage.ru_stime), spent);
}

void Server::finish() {
  for (Owned& program : running_) {
    if (program->is_over()) outgoing_.push_back(std::move(program));
  }
  std::erase(running_, nullptr);
  while (!outgoing_.empty() && outgoing_.front()->send(1)) outgoing_.pop_front();
}

}  // namespace

uint64_t serve_programs(std::span<const uint8_t> filter, uint32_t starved_times) {
  auto* server = new Server(filter, starved_times);  // never deleted: a run has only a part of its memory
  return server->run();
}

}  // namespace hone::sandbox
