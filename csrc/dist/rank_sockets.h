// TCP sockets from one rank to all other ranks of its group; connections from anything else are refused.
#pragma once

#include <sys/socket.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "dist/descriptor.h"

namespace hone::dist {

/// For each pair of ranks, the higher one connects to the lower one. Each sends the secret that the other has
/// generated for it; the caller has passed these secrets between them. A connection without a valid secret is
/// closed. Secrets and all later data are sent unencrypted.
class RankSockets {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  using Secret = std::array<char, 32>;
  /// Address and secret that a peer needs, transported as raw bytes: all machines must have the same byte
  /// order.
  struct Invitation {
    sockaddr_storage address;
    Secret secret;
  };

  /// Listens at `host`, a name or address of this machine, and at no other of the machine's addresses. Throws
  /// kIo.
  RankSockets(const std::string& host, int rank, int size);

  /// The data that `peer` needs to connect to this rank.
  const Invitation& invitation(int peer) const { return own_[size_t(peer)]; }

  /// theirs[p]: what rank p has prepared for this rank. Returns one socket per peer (none for this rank
  /// itself) once each peer has connected or accepted; call once. Always closes the listening socket. Throws
  /// kCollective naming the ranks that are lost or not connected by the deadline; kAborted after interrupt().
  std::vector<Descriptor> connect(const std::vector<Invitation>& theirs, Deadline deadline);

  /// May be called from any thread: a running or later connect() throws kAborted.
  void interrupt();

 private:
  int rank_;
  Descriptor listener_, wake_;
  std::vector<Invitation> own_;  // one per peer
};

}  // namespace hone::dist
