// Transport between ranks on hosts: sends bytes from one to another, with a deadline.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace hone::dist {

/// A rank's connections to all others of its group, connected when constructed. The destructor leaves the group.
class Transport {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  /// Data sent to `peer`, or received from it; never empty.
  struct Piece {
    int peer = 0;
    void* data = nullptr;
    int64_t bytes = 0;
  };
  using Pieces = std::vector<Piece>;

  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Sends and receives concurrently, at most one piece in each direction per peer; returns when all transfers are
  /// finished. A piece matches its peer's piece with the same tag, of the same length (trusted). A tag is used once.
  /// Throws kCollective for a lost peer or a missed deadline, kAborted after interrupt(); memory of the pieces is then
  /// no longer accessed.
  virtual void exchange(uint64_t tag, const Pieces& sends, const Pieces& receives, Deadline deadline) = 0;

  /// From any thread, at any time: a running exchange and every later one throw.
  virtual void interrupt() = 0;
  /// Breaks the connections off, so that the others notice. Idempotent.
  virtual void leave() = 0;
};

}  // namespace hone::dist
