// Tests the server with a host and programs in this file: each run is a fork of the test. Faults put into the
// code: the job in memory that forks inherit, descriptors of others not replaced, time not limited, a killed
// run reported as exited, an empty filter treated as none, a filter that is not installed, excess output
// noticed only when the process ends.
#include "sandbox/program_server.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <span>
#include <string>

#include "check.h"
#include "sandbox/program.h"

namespace sandbox_program_server_test {

using namespace hone::sandbox;
using namespace hone::test;

namespace {

std::string read_to_end(int fd) {
  std::string text;
  std::array<char, 4096> part;
  for (ssize_t n; (n = read(fd, part.data(), part.size())) > 0;) text.append(part.data(), size_t(n));
  return text;
}

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n <= 0) _exit(9);
    text.remove_prefix(size_t(n));
  }
}

std::string proc_of(pid_t pid) { return "/proc/" + std::to_string(pid); }

/// Returns "Seccomp:\t2" if a filter is installed. Source: Linux, proc_pid_status(5).
std::string seccomp_mode() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line) && !line.starts_with("Seccomp:")) {
  }
  return line;
}

/// Lists the descriptors from 4 on that are not /dev/null, each with its target.
std::string open_beside_the_pipes() {
  std::string found;
  for (int fd = 4; fd < 256; ++fd) {
    char what[256] = {};
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    if (readlink(path.c_str(), what, sizeof what - 1) > 0 && std::string(what) != "/dev/null")
      found += std::to_string(fd) + " " + what + "\n";
  }
  return found;
}

/// Allows every system call.
const std::array<sock_filter, 1> kAllow{{{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}}};
const std::span<const uint8_t> kAllowBytes{reinterpret_cast<const uint8_t*>(kAllow.data()), sizeof kAllow};

/// The secret with every character replaced by the next one, so that the secret itself is nowhere in this
/// program.
constexpr std::string_view kShifted = "tfdsfu!pg!bopuifs!svo";

std::string secret() {
  std::string text(kShifted);
  for (char& c : text) --c;
  return text;
}

/// Counts occurrences of the secret in [at, end), which may contain memory that AddressSanitizer poisons.
__attribute__((no_sanitize("address", "undefined"))) int secrets_between(const char* at, const char* end) {
  const char* const shifted = kShifted.data();
  const long size = long(kShifted.size());
  int found = 0;
  for (; end - at >= size; ++at) {
    long same = 0;
    while (same < size && at[same] == shifted[same] - 1) ++same;
    found += same == size;
  }
  return found;
}

/// Counts occurrences of the secret in all writable memory of this process, except a sanitizer's shadow
/// memory.
int secrets_in_memory() {
  int found = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long from = 0, to = 0;
    char mode[5] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &from, &to, mode) != 3 || std::string_view(mode) != "rw-p") continue;
    if (to - from < (64u << 20)) found += secrets_between(reinterpret_cast<const char*>(from), reinterpret_cast<const char*>(to));
  }
  return found;
}

/// What the process of a run does, according to the first word of its job.
[[noreturn]] void obey(uint64_t memory_bytes) {
  const std::string job = read_to_end(0);
  if (job == "spin") {
    for (;;) {
    }
  }
  if (job.starts_with("sleep")) sleep(60);
  if (job == "work") {
    for (const std::clock_t begin = std::clock(); std::clock() - begin < 3 * CLOCKS_PER_SEC / 10;) {
    }
  }
  if (job.starts_with("scan")) {
    write_all(1, std::to_string(secrets_in_memory()));
    _exit(0);
  }
  if (job == "die") raise(SIGKILL);
  if (job == "status") _exit(7);
  if (job == "mode") write_all(1, seccomp_mode());
  if (job == "descriptors") {
    write_all(1, open_beside_the_pipes());
    _exit(0);
  }
  if (job == "flood") {
    for (;;) (void)!write(1, "flood", 5);  // writes even if no one reads
  }
  if (job == "too late") {
    kill(getppid(), SIGSTOP);
    write_all(1, std::string(101, 'x'));
    _exit(0);
  }
  if (job == "memory") write_all(1, std::to_string(memory_bytes));
  write_all(1, job);
  write_all(2, "errors");
  write_all(3, "report");
  _exit(0);
}

struct Answer {
  Result result;
  std::array<std::string, 3> texts;
};

class Host {
 public:
  Host() {
    int to[2], from[2];
    if (pipe(to) != 0 || pipe(from) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      dup2(to[0], 0);
      dup2(from[1], 1);
      for (int fd : {to[0], to[1], from[0], from[1]}) close(fd);
      obey(serve_programs(kAllowBytes, 30));
    }
    close(to[0]);
    close(from[1]);
    requests_ = to[1];
    results_ = from[0];
  }
  ~Host() {
    close(requests_);
    close(results_);
    waitpid(pid_, nullptr, 0);
  }

  void ask(uint32_t number, std::string_view job, uint32_t wall_ms = 5000, uint32_t output_bytes = 1 << 20) {
    const Request request{number, uint32_t(job.size()), wall_ms, 10, 1u << 30, output_bytes, 100};
    write_all(requests_, {reinterpret_cast<const char*>(&request), sizeof request});
    write_all(requests_, job);
  }
  /// Waits until a run has stopped the server and has ended, then lets the server continue.
  void go_on_after_the_run() const {
    int code = 0;
    if (waitpid(pid_, &code, WUNTRACED) != pid_ || !WIFSTOPPED(code)) std::abort();
    const pid_t run = first_run();
    for (std::string text; text.find(") Z") == std::string::npos; usleep(1000))
      std::getline(std::ifstream(proc_of(run) + "/stat"), text);
    kill(pid_, SIGCONT);
  }
  /// Stops the server and its run for `us` microseconds, once there is a run.
  void stand_still(useconds_t us) const {
    pid_t run = 0;
    while (run == 0) run = first_run();
    for (const pid_t each : {pid_, run}) kill(each, SIGSTOP);
    usleep(us);
    for (const pid_t each : {run, pid_}) kill(each, SIGCONT);
  }
  void call_off(uint32_t number) {
    const Request request{number, kCallOff, 0, 0, 0, 0, 0};
    write_all(requests_, {reinterpret_cast<const char*>(&request), sizeof request});
  }
  Answer answer() {
    Answer answer{};
    take(&answer.result, sizeof answer.result);
    for (size_t which = 0; which < 3; ++which) {
      answer.texts[which].resize(answer.result.sizes[which]);
      take(answer.texts[which].data(), answer.texts[which].size());
    }
    return answer;
  }
  Answer run(std::string_view job, uint32_t wall_ms = 5000, uint32_t output_bytes = 1 << 20) {
    ask(1, job, wall_ms, output_bytes);
    return answer();
  }

 private:
  /// Process id of the server's first run; 0 if there is none.
  pid_t first_run() const {
    pid_t run = 0;
    std::ifstream(proc_of(pid_) + "/task/" + std::to_string(pid_) + "/children") >> run;
    return run;
  }

  void take(void* to, size_t size) {
    for (size_t at = 0; at < size;) {
      const ssize_t n = read(results_, static_cast<char*>(to) + at, size - at);
      if (n <= 0) std::abort();
      at += size_t(n);
    }
  }

  pid_t pid_;
  int requests_, results_;
};

}  // namespace

TEST(a_run_gets_its_job_and_what_it_writes_comes_back) {
  Host host;
  for (const std::string& job : {std::string("job"), std::string(), std::string(3 << 20, 'x')}) {
    const Answer answer = host.run(job, 30000, 4 << 20);
    EXPECT_EQ(int(answer.result.end), int(End::kExited));
    EXPECT_EQ(int(answer.result.code), 0);
    EXPECT_TRUE(answer.texts[0] == job);
    EXPECT_EQ(answer.texts[1], std::string("errors"));
    EXPECT_EQ(answer.texts[2], std::string("report"));
  }
  EXPECT_EQ(host.run("memory").texts[0].substr(0, 10), std::to_string(1 << 30));
}

TEST(an_end_is_told_as_it_was) {
  Host host;
  const Answer status = host.run("status");
  EXPECT_TRUE(WIFEXITED(status.result.code) && WEXITSTATUS(status.result.code) == 7);
  EXPECT_EQ(int(host.run("die").result.end), int(End::kLost));
  EXPECT_EQ(int(host.run("spin", 100).result.end), int(End::kTooSlow));
  const Answer slept = host.run("sleep", 100);
  EXPECT_EQ(int(slept.result.end), int(End::kTooSlow));
  EXPECT_TRUE(slept.result.spent_us >= 100000);
  const Answer flood = host.run("flood", 30000, 1000);
  EXPECT_EQ(int(flood.result.end), int(End::kTooMuchOutput));
  EXPECT_TRUE(flood.result.cpu_us < 5'000'000);  // the server killed it for its output, before its limit of 10 s
  EXPECT_EQ(flood.texts[0].size(), size_t(1000));
  EXPECT_EQ(int(host.run(std::string(1000, 'x'), 30000, 1000).result.end), int(End::kExited));
}

TEST(too_much_output_is_told_of_a_run_that_ended_before_it_was_read) {
  Host host;
  host.ask(1, "too late", 30000, 100);
  host.go_on_after_the_run();
  const Answer answer = host.answer();
  EXPECT_EQ(int(answer.result.end), int(End::kTooMuchOutput));
  EXPECT_EQ(answer.texts[0].size(), size_t(100));
}

TEST(a_run_that_stood_still_with_the_server_goes_on_where_it_was) {
  Host host;
  host.ask(1, "work", 1000);
  host.stand_still(2'000'000);
  const Answer answer = host.answer();
  EXPECT_EQ(int(answer.result.end), int(End::kExited));
  EXPECT_TRUE(answer.result.spent_us < 1'500'000);
}

TEST(runs_go_on_beside_each_other_and_one_can_be_called_off) {
  Host host;
  host.ask(1, "sleep", 60000);
  for (uint32_t number = 2; number < 12; ++number) host.ask(number, "job " + std::to_string(number));
  std::map<uint32_t, std::string> texts;
  for (uint32_t count = 0; count < 10; ++count) {
    const Answer answer = host.answer();
    texts[answer.result.number] = answer.texts[0];
  }
  for (uint32_t number = 2; number < 12; ++number) EXPECT_EQ(texts[number], "job " + std::to_string(number));
  host.call_off(1);
  EXPECT_EQ(int(host.answer().result.number), 1);
}

TEST(a_run_has_nothing_of_another_in_its_memory) {
  Host host;
  host.ask(3, "sleep " + secret(), 60000);
  EXPECT_TRUE(host.run("scan " + secret(), 60000).texts[0] != "0");  // a scan finds at least its own copy
  host.ask(2, "scan", 60000);
  EXPECT_EQ(host.answer().texts[0], std::string("0"));
  host.call_off(3);
  EXPECT_EQ(int(host.answer().result.number), 3);
}

TEST(a_run_has_its_pipes_and_dev_null_and_nothing_else) {
  for (const bool is_third_open : {false, true}) {  // whether descriptor 3 is open when the server starts
    if (is_third_open) dup2(2, 3);
    else close(3);
    Host host;
    host.ask(3, "sleep", 60000);
    host.ask(1, "descriptors");
    EXPECT_EQ(host.answer().texts[0], std::string());
    host.call_off(3);
    EXPECT_EQ(int(host.answer().result.number), 3);
  }
}

TEST(a_run_has_its_filter_of_system_calls) {
  EXPECT_EQ(Host().run("mode").texts[0].substr(0, 10), std::string("Seccomp:\t2"));
}

TEST(no_server_starts_without_a_filter) {
  for (const size_t size : {size_t(0), sizeof(sock_filter) - 1}) {
    const pid_t server = fork();
    if (server == 0) {
      const int nothing = open("/dev/null", O_RDWR);
      for (int fd : {0, 1, 2}) dup2(nothing, fd);
      serve_programs(kAllowBytes.first(size), 30);
      _exit(0);  // reached in a run, or when requests end
    }
    int code = 0;
    waitpid(server, &code, 0);
    EXPECT_TRUE(WIFEXITED(code) && WEXITSTATUS(code) == 1);
  }
}

}  // namespace sandbox_program_server_test
