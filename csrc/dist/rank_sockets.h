// A rank's sockets to all others of its group, over TCP; other connections are refused.
#pragma once

#include <sys/socket.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "dist/descriptor.h"

namespace hone::dist {

/// Of two ranks the higher one connects. Each sends the secret that the other has drawn for it, which the caller carries between
/// them. Who does not know one is let go unheard, and costs the group nothing but its turn. Secrets and all that follows them
/// travel in the clear.
class RankSockets {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  using Secret = std::array<char, 32>;
  /// As it is carried, in the bytes of machines of one kind.
  struct Invitation {
    sockaddr_storage address;
    Secret secret;
  };

  /// Listens at `host`, a name or an address of this machine, and at no other of its addresses. Throws kIo.
  RankSockets(const std::string& host, int rank, int size);

  /// What `peer` needs to reach this rank.
  const Invitation& invitation(int peer) const { return own_[size_t(peer)]; }

  /// theirs[p]: what rank p has prepared for this one. Returns a socket a peer, none for itself, when each peer has asked for
  /// it or answered; once. However it ends, the listening socket is closed. Throws kCollective for ranks that are gone, or not there
  /// by the deadline, and names them; kAborted after interrupt().
  std::vector<Descriptor> connect(const std::vector<Invitation>& theirs, Deadline deadline);

  /// From any thread: connect() that runs or begins throws.
  void interrupt();

 private:
  int rank_;
  Descriptor listener_, wake_;
  std::vector<Invitation> own_;  // by peer
};

}  // namespace hone::dist
