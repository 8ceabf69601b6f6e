// RunBuffers: a job is received and outputs are read through pipes, piece by piece. Faults put into the code:
// two outputs begin at the same place; the job is never dropped; one byte beyond the limit is kept.
#include "sandbox/run_buffers.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "check.h"

namespace sandbox_run_buffers_test {

using namespace hone::sandbox;
using namespace hone::test;
using Took = RunBuffers::Took;

namespace {

struct Pipe {
  int out = -1, in = -1;

  Pipe() {
    int pair[2];
    EXPECT_EQ(pipe2(pair, O_CLOEXEC | O_NONBLOCK), 0);
    out = pair[0], in = pair[1];
  }
  ~Pipe() {
    if (out >= 0) close(out);
    if (in >= 0) close(in);
  }
  void put(const std::string& text) { EXPECT_EQ(write(in, text.data(), text.size()), ssize_t(text.size())); }
  std::string get() {
    char text[64];
    const ssize_t count = read(out, text, sizeof text);
    return count > 0 ? std::string(text, size_t(count)) : "";
  }
  void end() { close(in), in = -1; }
};

std::string written(const RunBuffers& buffers, std::size_t which) {
  const auto bytes = buffers.written(which);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

TEST(a_job_comes_in_parts_and_is_given_on) {
  RunBuffers buffers(6, {1, 1, 1});
  Pipe host, run;
  EXPECT_TRUE(!buffers.receive(host.out));  // the pipe is still empty
  host.put("abc");
  EXPECT_TRUE(!buffers.receive(host.out));
  host.put("defnext");
  EXPECT_TRUE(buffers.receive(host.out));
  EXPECT_EQ(host.get(), "next");
  EXPECT_TRUE(!buffers.give(run.in));
  EXPECT_EQ(run.get(), "abcdef");
}

TEST(a_full_pipe_takes_the_rest_later_and_a_closed_one_nothing) {
  signal(SIGPIPE, SIG_IGN);
  RunBuffers buffers(3, {1, 1, 1});
  Pipe host, full, closed;
  host.put("abc");
  EXPECT_TRUE(buffers.receive(host.out));
  const std::string page(4096, 'x');
  while (write(full.in, page.data(), page.size()) > 0) {
  }
  EXPECT_TRUE(buffers.give(full.in));
  close(closed.out), closed.out = -1;
  EXPECT_TRUE(!buffers.give(closed.in));
}

TEST(each_output_has_its_place_and_its_bound) {
  RunBuffers buffers(0, {4, 2, 3});
  Pipe pipes[3];
  EXPECT_TRUE(buffers.take(0, pipes[0].out) == Took::kSome);
  EXPECT_EQ(written(buffers, 0), "");
  pipes[2].put("xyz");
  pipes[0].put("abcd");
  pipes[1].put("12");
  for (const std::size_t which : {2, 1, 0}) EXPECT_TRUE(buffers.take(which, pipes[which].out) == Took::kSome);
  pipes[1].put("3");
  pipes[0].end();
  EXPECT_TRUE(buffers.take(0, pipes[0].out) == Took::kEnd);
  EXPECT_TRUE(buffers.take(1, pipes[1].out) == Took::kTooMuch);
  EXPECT_TRUE(buffers.take(2, pipes[2].out) == Took::kSome);  // the buffer is full and the pipe empty
  EXPECT_EQ(written(buffers, 0) + "|" + written(buffers, 1) + "|" + written(buffers, 2), "abcd|12|xyz");
}

TEST(a_fork_has_nothing_of_it) {
  const RunBuffers buffers(0, {1, 1, 1});
  const auto page = reinterpret_cast<uintptr_t>(buffers.written(0).data()) & ~uintptr_t(sysconf(_SC_PAGESIZE) - 1);
  unsigned char there = 0;
  EXPECT_EQ(mincore(reinterpret_cast<void*>(page), 1, &there), 0);
  const pid_t pid = fork();
  if (pid == 0) _exit(mincore(reinterpret_cast<void*>(page), 1, &there) != 0 && errno == ENOMEM ? 0 : 1);
  int code = -1;
  EXPECT_EQ(waitpid(pid, &code, 0), pid);
  EXPECT_EQ(code, 0);
}

}  // namespace sandbox_run_buffers_test
