// A group of ranks that exchange tensors.
#pragma once

#include <cstdint>
#include <string>

#include "core/stream.h"
#include "core/tensor.h"

namespace hone::dist {

enum class ReduceOp : uint8_t { kSum, kMax };

/// Collectives over any transport. All ranks must make the same calls in the same order. A collective may
/// return before it has run: buffers must stay valid until wait() has returned or the communicator has
/// failed.
/// 
/// A collective throws kShape for buffers that do not fit together, kCollective for a remote error, a lost peer or a
/// time-out, kAborted after abort(), kState once the group is closed; after any of these except kShape only close() may
/// be called. One thread makes all calls except abort(), which any thread may make.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Copies `buffer` of rank `root` into that of every other rank.
  virtual void broadcast(const Stream& stream, const TensorView& buffer, int root) = 0;
  /// Replaces `buffer` on every rank by the sum or maximum over all ranks.
  virtual void all_reduce(const Stream& stream, const TensorView& buffer, ReduceOp op) = 0;
  /// source [size * n] -> destination [n]: this rank's part of the sum or maximum over all ranks.
  virtual void reduce_scatter(const Stream& stream, const TensorView& source, const TensorView& destination, ReduceOp op) = 0;
  /// source [n] -> destination [size * n]: the sources of all ranks in rank order.
  virtual void all_gather(const Stream& stream, const TensorView& source, const TensorView& destination) = 0;
  /// source [size * n] -> destination [size * n]: sends part p of source to rank p; part p of destination is
  /// what rank p sent.
  virtual void all_to_all(const Stream& stream, const TensorView& source, const TensorView& destination) = 0;
  /// all_to_all within teams: ranks [0, team), [team, 2 team), ... exchange among themselves, source [team *
  /// n] -> destination [team * n]. Teams are independent: the number of calls may differ between them. All
  /// calls in a group's life use one value of `team`, which divides size(). All ranks of a team must
  /// interleave these calls with the collectives of all ranks in the same order; otherwise the call times
  /// out.
  virtual void team_all_to_all(const Stream& stream, const TensorView& source, const TensorView& destination, int team) = 0;

  /// Returns when every collective queued on the stream has run on this rank.
  virtual void wait(const Stream& stream) = 0;
  /// Lets queued collectives end, then leaves the group. Idempotent.
  virtual void close() = 0;
  /// May be called from any thread at any time; idempotent. Pending calls throw kAborted and queued
  /// collectives are lost.
  virtual void abort(const std::string& reason) = 0;
};

}  // namespace hone::dist
