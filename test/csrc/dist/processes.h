// Creates ranks as processes, which the test forks before it has threads.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "check.h"

namespace hone::test {

/// A pipe that carries texts between a process and its parent.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(pipe2(ends_, O_CLOEXEC), 0); }
  Pipe(const Pipe&) = delete;
  ~Pipe() {
    close(ends_[0]);
    close(ends_[1]);
  }
  void write(const std::string& text) {
    const uint64_t size = text.size();
    put(&size, sizeof(size));
    put(text.data(), text.size());
  }
  /// Reads a text; returns an empty one if the other side ended without sending.
  std::string read() {
    uint64_t size = 0;
    if (!get(&size, sizeof(size))) return "";
    std::string text(size, '\0');
    get(text.data(), size);
    return text;
  }
  void close_writing() { close(std::exchange(ends_[1], -1)); }

 private:
  void put(const void* data, size_t bytes) {
    for (const char* at = static_cast<const char*>(data); bytes > 0;) {
      const ssize_t done = ::write(ends_[1], at, bytes);
      if (done <= 0) return;
      at += done;
      bytes -= size_t(done);
    }
  }
  bool get(void* data, size_t bytes) {
    for (char* at = static_cast<char*>(data); bytes > 0;) {
      const ssize_t done = ::read(ends_[0], at, bytes);
      if (done <= 0) return false;
      at += done;
      bytes -= size_t(done);
    }
    return true;
  }
  int ends_[2] = {-1, -1};
};

/// What one rank does: prepare() returns one text for every rank; `body` gets the texts that all ranks
/// prepared for it. processes() returns what each body returned, or "killed by signal N"; a failed EXPECT in
/// a child fails the test.
struct ProcessRank {
  std::function<std::vector<std::string>()> prepare;
  std::function<std::string(const std::vector<std::string>& prepared)> body;
};
inline std::vector<std::string> processes(int size, const std::function<ProcessRank(int rank)>& make) {
  // as in Node: writing to a process that has ended is an error and does not end this process
  signal(SIGPIPE, SIG_IGN);
  std::vector<Pipe> up(static_cast<size_t>(size)), down(static_cast<size_t>(size));
  std::vector<pid_t> children;
  for (int rank = 0; rank < size; ++rank) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      failures() = 0;
      // closes the other ranks' ends, since a pipe would otherwise stay open after its writer ended
      for (int other = 0; other < size; ++other) {
        if (other != rank) up[size_t(other)].close_writing();
        down[size_t(other)].close_writing();
      }
      std::string said;
      try {
        const ProcessRank own = make(rank);
        for (const std::string& text : own.prepare()) up[size_t(rank)].write(text);
        std::vector<std::string> prepared;
        for (int other = 0; other < size; ++other) prepared.push_back(down[size_t(rank)].read());
        said = own.body(prepared);
      } catch (const Error& error) {
        said = std::string(code_name(error.code())) + " " + error.what();
      }
      up[size_t(rank)].write(said);
      std::fflush(stdout);
      _exit(failures() ? 1 : 0);
    }
    children.push_back(child);
  }
  for (Pipe& pipe : up) pipe.close_writing();
  std::vector<std::vector<std::string>> given(static_cast<size_t>(size));
  for (int from = 0; from < size; ++from) {
    for (int to = 0; to < size; ++to) given[size_t(from)].push_back(up[size_t(from)].read());
  }
  for (int to = 0; to < size; ++to) {
    for (int from = 0; from < size; ++from) down[size_t(to)].write(given[size_t(from)][size_t(to)]);
  }
  std::vector<std::string> said;
  for (int rank = 0; rank < size; ++rank) {
    said.push_back(up[size_t(rank)].read());
    int status = 0;
    waitpid(children[size_t(rank)], &status, 0);
    if (WIFSIGNALED(status)) said.back() = "killed by signal " + std::to_string(WTERMSIG(status));
    else EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  return said;
}

}  // namespace hone::test
