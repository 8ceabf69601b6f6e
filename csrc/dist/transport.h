// Transport between ranks on hosts: sends bytes from one to another, with a deadline.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace hone::dist {

/// One rank's connections to all other ranks of its group, connected when constructed. The destructor leaves
/// the group.
class Transport {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  /// Bytes to send to `peer`, or to receive from it; never empty.
  struct Piece {
    int peer = 0;
    void* data = nullptr;
    int64_t bytes = 0;
  };
  using Pieces = std::vector<Piece>;

  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Sends and receives concurrently, at most one piece in each direction per peer; returns when all
  /// transfers are finished. A piece matches its peer's piece with the same tag, whose length must be equal
  /// (not checked). A tag is used once. Throws kCollective for a lost peer or a missed deadline, kAborted
  /// after interrupt(); after a throw the pieces' memory is no longer accessed.
  virtual void exchange(uint64_t tag, const Pieces& sends, const Pieces& receives, Deadline deadline) = 0;

  /// May be called from any thread at any time: a running exchange and every later one throw kAborted.
  virtual void interrupt() = 0;
  /// Closes the connections, so that the other ranks notice. Idempotent.
  virtual void leave() = 0;
};

}  // namespace hone::dist
