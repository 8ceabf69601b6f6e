// One rank's sockets over Gloo, and the C functions that wrap them. No exception of Gloo leaves this file.
#include <gloo/common/error.h>
#include <gloo/config.h>
#include <gloo/transport/context.h>
#include <gloo/transport/tcp/context.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/tcp/pair.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dist/descriptor.h"
#include "dist/gloo/abi.h"

namespace {

namespace tcp = gloo::transport::tcp;
using Buffer = gloo::transport::UnboundBuffer;
struct Posted {
  int peer;
  std::unique_ptr<Buffer> buffer;
};
using Buffers = std::vector<Posted>;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct Interrupted {};

/// Ends one wait for `buffer`: the current one, or the next one if no thread is waiting.
void wake(Buffer& buffer) {
  buffer.abortWaitRecv();
  buffer.abortWaitSend();
}

milliseconds left_until(Clock::time_point deadline) {
  // at least 1 ms, because 0 means no limit
  return std::max(std::chrono::ceil<milliseconds>(deadline - Clock::now()), milliseconds(1));
}

/// While an object exists, threads that are started do not preempt others when they wake; their share of the
/// processors is unchanged.
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

/// Gloo insists on listening at an address, until a pair gets its socket or for the device's lifetime: this
/// loopback address is used by nothing else.
constexpr const char* kNowhere = "127.71.76.79";

/// Gloo's thread polls a connection's lock while the caller's thread holds it. If Gloo's thread preempted the
/// caller, because the answer to the caller's message has already arrived, it would spin for its whole time
/// slice: milliseconds in an exchange of microseconds. So Gloo's thread is created without preemption.
std::shared_ptr<gloo::transport::Device> make_device() {
  const WithoutPreemption scope;
  return tcp::CreateDevice(kNowhere);
}

/// A connection whose events run on Gloo's thread, where an uncaught exception would end the process; this
/// class catches them. It passes all arguments on, because they differ between Gloo versions.
template <class Events>
class GuardedPair;
template <class... Arguments>
class GuardedPair<void (tcp::Handler::*)(Arguments...)> : public tcp::Pair {
 public:
  using tcp::Pair::Pair;
  void handleEvents(Arguments... arguments) override {
    try {
      tcp::Pair::handleEvents(arguments...);
    } catch (const std::exception& error) {
      // the thread that holds the lock may be waiting for this thread
      const std::unique_lock lock(m_, std::try_to_lock);
      if (lock && !ex_) signalException(error.what());
    }
  }
};

/// A connection over an authenticated socket. Gloo's own connect would accept the first connection as the
/// peer's: at one port per pair (in 2022), or by a sequential number.
class Pair final : public GuardedPair<decltype(&tcp::Handler::handleEvents)> {
 public:
  using GuardedPair::GuardedPair;

  void take(hone::dist::Descriptor socket) {
    const std::lock_guard lock(m_);
    throwIfException();
    if (fd_ >= 0) {  // closes the socket at which Gloo listens for this pair
      device_->unregisterDescriptor(fd_, this);
      ::close(std::exchange(fd_, -1));
    }
    sockaddr_storage other{};
    socklen_t bytes = sizeof(other);
    // a lost connection has no peer name
    getpeername(socket.get(), reinterpret_cast<sockaddr*>(&other), &bytes);
    peer_ = tcp::Address(other);
    device_->registerDescriptor(socket.get(), EPOLLIN, this);
    fd_ = socket.release();
    changeState(CONNECTED);
  }
};

void say(HoneGlooText* why, const char* text) {
  std::strncpy(why->text, text, sizeof(why->text) - 1);
  why->text[sizeof(why->text) - 1] = 0;
}

/// Detects lost peers. When a connection ends, Gloo (2022) notifies queued buffers, but not the buffer whose
/// bytes were in transit, which would wait until its time-out. So for each peer one buffer waits for a
/// message that is never sent, and receives the error; a thread polls these buffers and wakes the others.
class Watch {
 public:
  using Wake = std::function<void(int peer)>;
  /// Calls `gone` for every lost peer, from a separate thread, every kEvery.
  explicit Watch(Wake gone) : gone_(std::move(gone)), thread_([this] { run(); }) {}
  Watch(const Watch&) = delete;
  ~Watch() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    ended_.notify_one();
    thread_.join();
  }

  /// Must be called once for each peer, when it is connected.
  void add(gloo::transport::Context& context, int peer) {
    std::unique_ptr<Buffer> buffer = context.createUnboundBuffer(nullptr, 0);
    buffer->recv(peer, kTag);
    const std::lock_guard lock(mutex_);
    asked_.push_back({peer, std::move(buffer)});
  }

 private:
  static constexpr milliseconds kEvery{50};
  // a tag that no message has: HostCollectives' tags count from 1
  static constexpr uint64_t kTag = ~uint64_t(0);

  void run() {
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, kEvery, [this] { return over_; })) {
      for (const auto& [peer, buffer] : asked_) {
        if (is_gone(*buffer)) gone_(peer);
      }
    }
  }

  static bool is_gone(Buffer& buffer) {
    try {
      buffer.abortWaitRecv();
      buffer.waitRecv();  // returns at once, or throws the first error that the buffer received
      return false;
    } catch (const gloo::IoException&) {
      return true;
    }
  }

  Wake gone_;
  std::mutex mutex_;
  std::condition_variable ended_;
  Buffers asked_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace

struct HoneGlooGroup {
  HoneGlooGroup(int rank, int size) : device(make_device()), context(device->createContext(rank, size)) {}

  void take(int peer, hone::dist::Descriptor socket) {
    auto pair = std::make_unique<Pair>(static_cast<tcp::Context*>(context.get()), static_cast<tcp::Device*>(device.get()), peer,
                                       context->getTimeout());
    pair->take(std::move(socket));
    context->getPair(peer) = std::move(pair);
    watch.add(*context, peer);
  }

  void exchange(uint64_t tag, const std::vector<HoneGlooPiece>& sends, const std::vector<HoneGlooPiece>& receives,
                Clock::time_point deadline) {
    Buffers out = post(sends), in = post(receives);
    try {
      for (const auto& [peer, buffer] : in) buffer->recv(peer, tag);
      for (const auto& [peer, buffer] : out) buffer->send(peer, tag);
      for (const auto& [peer, buffer] : out) finish(peer, deadline, [&](milliseconds left) { return buffer->waitSend(left); });
      for (const auto& [peer, buffer] : in) finish(peer, deadline, [&](milliseconds left) { return buffer->waitRecv(left); });
    } catch (...) {
      leave();  // closes the connections before the buffers are destroyed
      forget();
      throw;
    }
    forget();
  }

  void interrupt() {
    const std::lock_guard lock(mutex);
    interrupted = true;
    for (const auto& [peer, buffer] : waited) wake(*buffer);
  }

  void leave() {
    for (int peer = 0; peer < context->size; ++peer) {
      if (const auto& pair = context->getPair(peer)) pair->close();
    }
  }

  std::shared_ptr<gloo::transport::Device> device;
  std::shared_ptr<gloo::transport::Context> context;

 private:
  /// Waits for one transfer. A wait that is woken early was interrupted, or its peer is lost: then the
  /// transfer only counts if its data had already arrived. Gloo reports a woken wait as unfinished even if
  /// the transfer is finished, and may wake it again meanwhile; so it is checked twice more.
  template <class Wait>
  void finish(int peer, Clock::time_point deadline, const Wait& wait) {
    if (wait(left_until(deadline))) return;
    const std::lock_guard lock(mutex);  // from here on no thread wakes this wait
    if (interrupted) throw Interrupted();
    try {
      const milliseconds at_once(1);
      // the first wait may return because it was woken before the lock was taken
      if (wait(at_once) || wait(at_once)) return;
    } catch (const gloo::IoException&) {  // this short wait's time-out, which is not the cause of the failure
    }
    throw gloo::IoException("Connection with rank " + std::to_string(peer) + " ended amid a transfer");
  }

  void wake_those_of(int peer) {
    const std::lock_guard lock(mutex);
    for (const auto& [of, buffer] : waited) {
      if (of == peer) wake(*buffer);
    }
  }

  Buffers post(const std::vector<HoneGlooPiece>& pieces) {
    Buffers buffers;
    const std::lock_guard lock(mutex);
    if (interrupted) throw Interrupted();
    for (const HoneGlooPiece& piece : pieces) {
      buffers.push_back({piece.peer, context->createUnboundBuffer(piece.data, piece.bytes)});
      waited.push_back({piece.peer, buffers.back().buffer.get()});
    }
    return buffers;
  }

  void forget() {
    const std::lock_guard lock(mutex);
    waited.clear();
  }

  std::mutex mutex;
  std::vector<std::pair<int, Buffer*>> waited;  // each with its peer
  bool interrupted = false;
  // declared last, so that its thread ends before the other members are destroyed
  Watch watch{[this](int peer) { wake_those_of(peer); }};
};

namespace {

/// Runs f and returns how it ended.
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

HoneGlooGroup* create(int rank, int size, HoneGlooText* why) {
  try {
    return new HoneGlooGroup(rank, size);
  } catch (const std::exception& error) {
    say(why, error.what());
    return nullptr;
  }
}

HoneGlooStatus take(HoneGlooGroup* group, int peer, int socket, HoneGlooText* why) {
  hone::dist::Descriptor own(socket);
  return guarded(Clock::time_point::max(), why, [&] { group->take(peer, std::move(own)); });
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
    create, take, exchange, interrupt, leave, destroy};

}  // namespace

extern "C" __attribute__((visibility("default"))) const HoneGlooFunctions* hone_gloo() { return &kFunctions; }
