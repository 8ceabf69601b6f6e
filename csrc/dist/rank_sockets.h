// A rank's sockets to all others of its group, over TCP; other connections are refused.
#pragma once

#include <sys/socket.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "dist/descriptor.h"

namespace hone::dist {

/// Of two ranks the higher one connects. Each sends the secret that the other has generated for it; the
/// caller has passed these secrets between them. A connection without a valid secret is closed. Secrets and
/// all later data are sent unencrypted.
class RankSockets {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  using Secret = std::array<char, 32>;
  /// Invitation as transported, in the byte order of machines of one kind.
  struct Invitation {
    sockaddr_storage address;
    Secret secret;
  };

  /// Listens at `host`, a name or address of this machine, and at no other of its addresses. Throws kIo.
  RankSockets(const std::string& host, int rank, int size);

  /// The data that `peer` needs to connect to this rank.
  const Invitation& invitation(int peer) const { return own_[size_t(peer)]; }

  /// theirs[p]: what rank p has prepared for this one. Returns one socket per peer, none for itself, once each peer has
  /// connected or answered; call once. Always closes the listening socket. Throws kCollective naming ranks that are
  /// lost, or not connected by the deadline; kAborted after interrupt().
  std::vector<Descriptor> connect(const std::vector<Invitation>& theirs, Deadline deadline);

  /// From any thread: a running or later connect() throws.
  void interrupt();

 private:
  int rank_;
  Descriptor listener_, wake_;
  std::vector<Invitation> own_;  // by peer
};

}  // namespace hone::dist
