// How ranks on hosts reach one another: bytes from one to another, with a deadline.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace hone::dist {

/// A rank's connections to all others of its group, complete when made. Destroying it leaves the group.
class Transport {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  /// What goes to `peer`, or comes from it; a piece of no bytes is not one.
  struct Piece {
    int peer = 0;
    void* data = nullptr;
    int64_t bytes = 0;
  };
  using Pieces = std::vector<Piece>;

  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Sends and receives at once, at most one piece each way with a peer; returns when all of it is done. A piece meets
  /// the one that its peer gives under the same tag, of the same length (trusted). A tag is used once.
  /// Throws kCollective for a peer that is gone and for a deadline that has passed, kAborted after interrupt(); memory
  /// of the pieces is then left alone.
  virtual void exchange(uint64_t tag, const Pieces& sends, const Pieces& receives, Deadline deadline) = 0;

  /// From any thread, at any time: an exchange that runs and every later one throw.
  virtual void interrupt() = 0;
  /// Breaks the connections off, so that the others notice. Idempotent.
  virtual void leave() = 0;
};

}  // namespace hone::dist
