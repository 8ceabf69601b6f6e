// A rank's sockets over Gloo, and the C table in front of them. Every exception of Gloo ends here.
#include <fcntl.h>
#include <gloo/common/error.h>
#include <gloo/config.h>
#include <gloo/transport/context.h>
#include <gloo/transport/tcp/device.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "dist/gloo/abi.h"

namespace {

using Buffer = gloo::transport::UnboundBuffer;
using Buffers = std::vector<std::unique_ptr<Buffer>>;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct Interrupted {};

milliseconds left_until(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
  return std::max(left, milliseconds(1));  // 0 is for ever
}

/// A child process must not keep sockets open whose other end waits for this process to die.
void close_sockets_on_exec() {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", none)) {
    const int fd = std::atoi(entry.path().filename().c_str());
    if (entry.symlink_status(none).type() != std::filesystem::file_type::symlink) continue;
    if (std::filesystem::read_symlink(entry.path(), none).string().rfind("socket:", 0) != 0) continue;
    fcntl(fd, F_SETFD, fcntl(fd, F_GETFD) | FD_CLOEXEC);
  }
}

/// Threads that begin in its scope do not preempt others when they wake; they get their share of the processors all the same.
class WithoutPreemption {
 public:
  WithoutPreemption() { set(SCHED_BATCH); }
  ~WithoutPreemption() { set(SCHED_OTHER); }
  WithoutPreemption(const WithoutPreemption&) = delete;

 private:
  void set(int policy) const {
    const sched_param none{};
    if (ordinary_) sched_setscheduler(0, policy, &none);
  }

  const bool ordinary_ = sched_getscheduler(0) == SCHED_OTHER;
};

/// Its thread tries for a connection's lock and comes back at once, again and again, while a caller has it. One that woke in
/// the caller's place, because the answer to what the caller sends is there already, would spin until its time is over:
/// milliseconds for an exchange of microseconds.
std::shared_ptr<gloo::transport::Device> make_device(const char* host) {
  const WithoutPreemption scope;
  return gloo::transport::tcp::CreateDevice(gloo::transport::tcp::attr(host));
}

void say(HoneGlooText* why, const char* text) {
  std::strncpy(why->text, text, sizeof(why->text) - 1);
  why->text[sizeof(why->text) - 1] = 0;
}

}  // namespace

struct HoneGlooGroup {
  HoneGlooGroup(const char* host, int rank, int size, milliseconds connect)
      : device(make_device(host)), context(device->createContext(rank, size)) {
    context->setTimeout(connect);  // a pair takes it when it is made
    for (int peer = 0; peer < size; ++peer) {
      if (peer != rank) context->createPair(peer);
    }
    close_sockets_on_exec();
  }

  void connect(int peer, const std::vector<char>& address) {
    context->getPair(peer)->connect(address);
    close_sockets_on_exec();
  }

  void exchange(uint64_t tag, const std::vector<HoneGlooPiece>& sends, const std::vector<HoneGlooPiece>& receives,
                Clock::time_point deadline) {
    Buffers out = post(sends), in = post(receives);
    try {
      for (size_t i = 0; i < in.size(); ++i) in[i]->recv(receives[i].peer, tag);
      for (size_t i = 0; i < out.size(); ++i) out[i]->send(sends[i].peer, tag);
      for (const auto& buffer : out) expect(buffer->waitSend(left_until(deadline)));
      for (const auto& buffer : in) expect(buffer->waitRecv(left_until(deadline)));
    } catch (...) {
      leave();  // before the buffers go
      forget();
      throw;
    }
    forget();
  }

  void interrupt() {
    const std::lock_guard lock(mutex);
    interrupted = true;
    for (Buffer* buffer : waited) {
      buffer->abortWaitRecv();
      buffer->abortWaitSend();
    }
  }

  void leave() {
    for (int peer = 0; peer < context->size; ++peer) {
      if (peer != context->rank) context->getPair(peer)->close();
    }
  }

  std::shared_ptr<gloo::transport::Device> device;
  std::shared_ptr<gloo::transport::Context> context;

 private:
  static void expect(bool done) {
    if (!done) throw Interrupted();
  }

  Buffers post(const std::vector<HoneGlooPiece>& pieces) {
    Buffers buffers;
    const std::lock_guard lock(mutex);
    if (interrupted) throw Interrupted();
    for (const HoneGlooPiece& piece : pieces) {
      buffers.push_back(context->createUnboundBuffer(piece.data, piece.bytes));
      waited.push_back(buffers.back().get());
    }
    return buffers;
  }

  void forget() {
    const std::lock_guard lock(mutex);
    waited.clear();
  }

  std::mutex mutex;
  std::vector<Buffer*> waited;  // what interrupt() wakes
  bool interrupted = false;
};

namespace {

/// Runs f and says how it ended.
template <class F>
HoneGlooStatus guarded(Clock::time_point deadline, HoneGlooText* why, const F& f) {
  try {
    f();
    return kHoneGlooOk;
  } catch (const Interrupted&) {
    say(why, "interrupted");
    return kHoneGlooInterrupted;
  } catch (const gloo::IoException& error) {
    say(why, error.what());
    const bool late = Clock::now() >= deadline || std::strstr(error.what(), "imed out") || std::strstr(error.what(), "imeout");
    return late ? kHoneGlooLate : kHoneGlooLost;
  } catch (const std::exception& error) {
    say(why, error.what());
    return kHoneGlooMisused;
  }
}

HoneGlooGroup* create(const char* host, int rank, int size, int64_t connect_ms, HoneGlooText* why) {
  try {
    return new HoneGlooGroup(host, rank, size, milliseconds(connect_ms));
  } catch (const std::exception& error) {
    say(why, error.what());
    return nullptr;
  }
}

size_t address(HoneGlooGroup* group, int peer, void* out, size_t capacity) {
  const std::vector<char> bytes = group->context->getPair(peer)->address().bytes();
  if (bytes.size() > capacity) return 0;
  std::memcpy(out, bytes.data(), bytes.size());
  return bytes.size();
}

HoneGlooStatus connect(HoneGlooGroup* group, int peer, const void* address, size_t bytes, HoneGlooText* why) {
  const auto deadline = Clock::now() + group->context->getTimeout();
  const char* const begin = static_cast<const char*>(address);
  return guarded(deadline, why, [&] { group->connect(peer, {begin, begin + bytes}); });
}

HoneGlooStatus exchange(HoneGlooGroup* group, uint64_t tag, const HoneGlooPiece* sends, size_t send_count,
                        const HoneGlooPiece* receives, size_t receive_count, int64_t timeout_ms, HoneGlooText* why) {
  const auto deadline = Clock::now() + milliseconds(timeout_ms);
  return guarded(deadline, why, [&] {
    group->exchange(tag, {sends, sends + send_count}, {receives, receives + receive_count}, deadline);
  });
}

void interrupt(HoneGlooGroup* group) { group->interrupt(); }
void leave(HoneGlooGroup* group) { group->leave(); }
void destroy(HoneGlooGroup* group) { delete group; }

#define HONE_TEXT(x) #x
#define HONE_VERSION(a, b, c) HONE_TEXT(a) "." HONE_TEXT(b) "." HONE_TEXT(c)
constexpr HoneGlooFunctions kFunctions = {
    kHoneGlooVersion, HONE_VERSION(GLOO_VERSION_MAJOR, GLOO_VERSION_MINOR, GLOO_VERSION_PATCH),
    create, address, connect, exchange, interrupt, leave, destroy};

}  // namespace

extern "C" __attribute__((visibility("default"))) const HoneGlooFunctions* hone_gloo() { return &kFunctions; }
