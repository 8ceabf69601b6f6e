#include "dist/rank_sockets.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "core/error.h"

namespace hone::dist {
namespace {

using Clock = std::chrono::steady_clock;
using Secret = RankSockets::Secret;
using std::chrono::milliseconds;

constexpr milliseconds kAgain{50};  // pause before connecting again to a rank that closed the connection
// limit of unauthenticated connections, in addition to the number of ranks; beyond it the oldest is closed
constexpr size_t kStrangers = 64;

[[noreturn]] void cannot_listen(const std::string& host, const char* why) {
  fail(Code::kIo, "communicator: cannot listen at host \"%s\": %s.", host.c_str(), why);
}

/// Listens at the first of the host's addresses that is an address of this machine.
Descriptor listen_at(const std::string& host) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (const int error = getaddrinfo(host.c_str(), nullptr, &hints, &found)) cannot_listen(host, gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all(found, freeaddrinfo);
  for (const addrinfo* each = found; each; each = each->ai_next) {
    Descriptor socket(::socket(each->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (socket && bind(socket.get(), each->ai_addr, each->ai_addrlen) == 0 && listen(socket.get(), SOMAXCONN) == 0) return socket;
  }
  cannot_listen(host, std::strerror(errno));
}

bool is_every_address(const sockaddr_storage& address) {
  const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  return address.ss_family == AF_INET ? v4.sin_addr.s_addr == INADDR_ANY : IN6_IS_ADDR_UNSPECIFIED(&v6.sin6_addr);
}

sockaddr_storage address_of(const Descriptor& listener, const std::string& host) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof(address);
  if (getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &bytes) != 0) cannot_listen(host, std::strerror(errno));
  if (is_every_address(address)) cannot_listen(host, "it stands for every address of this machine; name the one that the others reach");
  return address;
}

Secret draw_secret() {
  Secret secret;
  if (getentropy(secret.data(), secret.size()) != 0) fail(Code::kIo, "communicator: getentropy: %s.", std::strerror(errno));
  return secret;
}

// never blocks: the secret fits in the empty send buffer of a new connection
bool say(const Descriptor& socket, const Secret& secret) {
  return send(socket.get(), secret.data(), secret.size(), MSG_NOSIGNAL) == ssize_t(secret.size());
}

/// Receives a secret, which may arrive in pieces.
class Hearing {
 public:
  enum class Progress { kMore, kWhole, kEnded };
  /// Reads what has arrived, but no byte beyond the secret.
  Progress go_on(const Descriptor& socket) {
    const ssize_t got = recv(socket.get(), heard_.data() + bytes_, heard_.size() - bytes_, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Progress::kMore;
    if (got <= 0) return Progress::kEnded;
    bytes_ += size_t(got);
    return bytes_ == heard_.size() ? Progress::kWhole : Progress::kMore;
  }
  const Secret& heard() const { return heard_; }

 private:
  Secret heard_{};
  size_t bytes_ = 0;
};

/// An incoming connection that has not authenticated itself as a rank yet.
struct Guest {
  Descriptor socket;
  Hearing hearing;
};

/// A connection from this rank to a lower one: not started, in progress, or answered.
struct Call {
  int peer = 0;
  Descriptor socket{};
  Clock::time_point again{};
  bool connected = false;
  Hearing hearing{};
};

/// The state of one call of connect(): incoming and outgoing connections, until each peer has a socket.
class Meeting {
 public:
  using Invitations = std::vector<RankSockets::Invitation>;
  Meeting(int rank, const Invitations& own, const Invitations& theirs) : rank_(rank), own_(own), theirs_(theirs), sockets_(own.size()) {
    for (int peer = 0; peer < rank; ++peer) calls_.push_back(Call{.peer = peer});
  }

  std::vector<Descriptor> run(const Descriptor& listener, const Descriptor& wake, Clock::time_point deadline) {
    while (!missing().empty()) step(listener, wake, deadline);
    const int on = 1;
    for (const Descriptor& each : sockets_) {
      if (each) setsockopt(each.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    }
    return std::move(sockets_);
  }

 private:
  int size() const { return int(own_.size()); }

  std::vector<int> missing() const {
    std::vector<int> out;
    for (int peer = 0; peer < size(); ++peer) {
      if (peer != rank_ && !sockets_[size_t(peer)]) out.push_back(peer);
    }
    return out;
  }

  /// Waits for events on the connections, for at most kAgain, and handles them.
  void step(const Descriptor& listener, const Descriptor& wake, Clock::time_point deadline) {
    if (Clock::now() >= deadline) give_up();
    for (Call& call : calls_) {
      if (!call.socket && Clock::now() >= call.again) dial(call);
    }
    std::vector<pollfd> on{{wake.get(), POLLIN, 0}, {listener.get(), POLLIN, 0}};
    for (const Guest& guest : guests_) on.push_back({guest.socket.get(), POLLIN, 0});
    for (const Call& call : calls_) on.push_back({call.socket.get(), short(call.connected ? POLLIN : POLLOUT), 0});
    poll(on.data(), on.size(), int(kAgain.count()));
    if (on[0].revents) fail(Code::kAborted, "connect: interrupted.");
    auto at = on.begin() + 2;
    for (Guest& guest : guests_) {
      if ((at++)->revents) hear(guest);
    }
    for (Call& call : calls_) {
      if ((at++)->revents) go_on(call);
    }
    std::erase_if(guests_, [](const Guest& guest) { return !guest.socket; });
    std::erase_if(calls_, [this](const Call& call) { return bool(sockets_[size_t(call.peer)]); });
    if (on[1].revents) receive(listener);
  }

  [[noreturn]] void give_up() const {
    std::string names;
    for (int peer : missing()) names += (names.empty() ? "" : ", ") + std::to_string(peer);
    fail(Code::kCollective, "rank %d of %d: connect: no answer in time from rank(s) %s.", rank_, size(), names.c_str());
  }

  void receive(const Descriptor& listener) {
    Descriptor socket(accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    const bool no_room = !socket && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM);
    if (no_room && guests_.empty()) fail(Code::kIo, "connect: accept: %s.", std::strerror(errno));
    if (no_room || guests_.size() >= own_.size() + kStrangers) guests_.erase(guests_.begin());
    if (socket) guests_.push_back({std::move(socket), {}});
  }

  void hear(Guest& guest) {
    const Hearing::Progress progress = guest.hearing.go_on(guest.socket);
    if (progress == Hearing::Progress::kMore) return;
    Descriptor socket = std::move(guest.socket);
    const int peer = progress == Hearing::Progress::kWhole ? who_says(guest.hearing.heard()) : -1;
    if (peer >= 0 && say(socket, theirs_[size_t(peer)].secret)) sockets_[size_t(peer)] = std::move(socket);
  }

  /// The unconnected rank that has this secret; -1: none.
  int who_says(const Secret& secret) const {
    for (int peer = rank_ + 1; peer < size(); ++peer) {
      if (!sockets_[size_t(peer)] && own_[size_t(peer)].secret == secret) return peer;
    }
    return -1;
  }

  void dial(Call& call) {
    const sockaddr_storage& to = theirs_[size_t(call.peer)].address;
    call.socket.reset(socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const socklen_t bytes = to.ss_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    const bool begun = call.socket && ::connect(call.socket.get(), reinterpret_cast<const sockaddr*>(&to), bytes) == 0;
    if (!begun && errno != EINPROGRESS) gone(call, errno);
  }

  void go_on(Call& call) {
    if (!call.connected) {
      int error = 0;
      socklen_t bytes = sizeof(error);
      getsockopt(call.socket.get(), SOL_SOCKET, SO_ERROR, &error, &bytes);
      if (error) gone(call, error);
      call.connected = say(call.socket, theirs_[size_t(call.peer)].secret);
      if (!call.connected) hang_up(call);
      return;
    }
    const Hearing::Progress progress = call.hearing.go_on(call.socket);
    if (progress == Hearing::Progress::kMore) return;
    const bool answered = progress == Hearing::Progress::kWhole && call.hearing.heard() == own_[size_t(call.peer)].secret;
    if (answered) sockets_[size_t(call.peer)] = std::move(call.socket);
    else hang_up(call);
  }

  /// Closes the connection and schedules another attempt: the peer may have closed it because it had too many
  /// unauthenticated connections.
  void hang_up(Call& call) { call = Call{.peer = call.peer, .again = Clock::now() + kAgain}; }

  /// Called if connecting fails: a rank that has prepared its data listens until it has connected to all
  /// others, so the peer must have ended.
  [[noreturn]] void gone(const Call& call, int error) const {
    fail(Code::kCollective, "rank %d of %d: connect: rank %d is gone (%s).", rank_, size(), call.peer, std::strerror(error));
  }

  const int rank_;
  const Invitations &own_, &theirs_;
  std::vector<Descriptor> sockets_;  // one per peer
  std::vector<Guest> guests_;
  std::vector<Call> calls_;
};

}  // namespace

RankSockets::RankSockets(const std::string& host, int rank, int size)
    : rank_(rank), listener_(listen_at(host)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_) fail(Code::kIo, "communicator: eventfd: %s.", std::strerror(errno));
  const sockaddr_storage address = address_of(listener_, host);
  for (int peer = 0; peer < size; ++peer) own_.push_back({address, draw_secret()});
}

std::vector<Descriptor> RankSockets::connect(const std::vector<Invitation>& theirs, Deadline deadline) {
  const Descriptor listener = std::move(listener_);
  if (!listener) fail(Code::kState, "connect: called before.");
  return Meeting(rank_, own_, theirs).run(listener, wake_, deadline);
}

void RankSockets::interrupt() { eventfd_write(wake_.get(), 1); }

}  // namespace hone::dist
