// A group of ranks that exchange tensors.
#pragma once

#include <cstdint>
#include <string>

#include "core/stream.h"
#include "core/tensor.h"

namespace hone::dist {

enum class ReduceOp : uint8_t { kSum, kMax };

/// What a group exchanges, whatever carries it. All ranks call the same in the same order. A collective may return before
/// it has run: buffers live until wait() has returned, or the communicator has failed.
///
/// A collective throws kShape for buffers that do not fit together, kCollective for a remote error, a lost peer or a
/// time-out, kAborted after abort(), kState once the group is closed; after any of these but kShape only close() is left.
/// One thread calls everything but abort(), which any may.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// `buffer` of rank root is copied into everybody else's.
  virtual void broadcast(const Stream& stream, const TensorView& buffer, int root) = 0;
  /// In place.
  virtual void all_reduce(const Stream& stream, const TensorView& buffer, ReduceOp op) = 0;
  /// source [size * n] -> destination [n]: this rank's part of the sum or maximum.
  virtual void reduce_scatter(const Stream& stream, const TensorView& source, const TensorView& destination, ReduceOp op) = 0;
  /// source [n] -> destination [size * n], rank after rank.
  virtual void all_gather(const Stream& stream, const TensorView& source, const TensorView& destination) = 0;
  /// source [size * n] -> destination [size * n]: part p goes to rank p, part p of the result came from rank p.
  virtual void all_to_all(const Stream& stream, const TensorView& source, const TensorView& destination) = 0;
  /// The same within teams: ranks [0, team), [team, 2 team), ... exchange among themselves, source [team * n] -> destination
  /// [team * n]. Every team goes its own way: what one calls, and how often, another need not. All calls of a group's life
  /// give the same `team`, which divides size(). Ranks of a team also have the same order of its calls among those of all
  /// ranks; where they have not, the time-out tells.
  virtual void team_all_to_all(const Stream& stream, const TensorView& source, const TensorView& destination, int team) = 0;

  /// Returns when every collective queued on the stream has run on this rank.
  virtual void wait(const Stream& stream) = 0;
  /// Lets queued collectives end, then leaves the group. Idempotent.
  virtual void close() = 0;
  /// From any thread, at any time, idempotent: waiting calls throw kAborted. Queued collectives are lost.
  virtual void abort(const std::string& reason) = 0;
};

}  // namespace hone::dist
