// Collectives over a transport, run in the caller's thread.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "dist/communicator.h"
#include "dist/transport.h"

namespace hone::dist {

/// Identifies a collective: its kind, arguments and sequence number (team collectives are counted
/// separately). Ranks compare labels before other data moves.
struct Label {
  enum class Kind : uint8_t { kBroadcast, kAllReduce, kReduceScatter, kAllGather, kAllToAll, kTeamAllToAll, kClose };
  uint64_t sequence = 0;
  int64_t count = 0;  // elements of the smaller of the two buffers
  Kind kind = Kind::kClose;
  DType dtype = DType::kU8;
  ReduceOp op = ReduceOp::kSum;
  uint8_t unused = 0;
  int32_t root = 0;   // root of a broadcast; size of a team in kTeamAllToAll

  /// For messages, e.g. "all_reduce sum of f32[12] as collective 3".
  std::string text() const;
};

/// Consecutive ranks that take part in a collective, including the caller's.
struct Peers {
  int first = 0, count = 0;
};

/// Each collective first compares labels among its ranks, then moves bytes. Sums and maxima are taken in rank
/// order, so that they have the same bits on every rank and in every run. A failure makes the group unusable.
/// The caller checks buffers and does not pass empty ones.
/// not pass empty ones.
/// 
/// Throws kCollective if ranks made different calls (the message has both), for a lost peer and after
/// `timeout`, which covers a whole collective; kAborted after transport().interrupt().
class HostCollectives {
 public:
  HostCollectives(std::unique_ptr<Transport> transport, std::chrono::milliseconds timeout)
      : transport_(std::move(transport)), timeout_(timeout) {}

  int rank() const { return transport_->rank(); }
  int size() const { return transport_->size(); }
  Transport& transport() { return *transport_; }

  void broadcast(const TensorView& buffer, int root);
  void all_reduce(const TensorView& buffer, ReduceOp op);
  void reduce_scatter(const TensorView& source, const TensorView& destination, ReduceOp op);
  void all_gather(const TensorView& source, const TensorView& destination);
  void all_to_all(const TensorView& source, const TensorView& destination);
  void team_all_to_all(const TensorView& source, const TensorView& destination, int team);
  /// Waits until all ranks have called close().
  void close();

 private:
  using Pieces = Transport::Pieces;

  void begin(Label label) { begin(label, {0, size()}, sequence_); }
  void begin(Label label, const Peers& peers, uint64_t& sequence);
  void exchange(const Pieces& sends, const Pieces& receives);
  std::byte* scratch(int64_t bytes);
  void reduce_small(const TensorView& buffer, ReduceOp op);
  void reduce_in_parts(const TensorView& buffer, ReduceOp op);

  std::unique_ptr<Transport> transport_;
  std::chrono::milliseconds timeout_;
  Transport::Deadline deadline_;
  uint64_t sequence_ = 0, team_sequence_ = 0;  // of the last collective, the last team collective
  uint64_t tag_ = 0, round_ = 0;               // of the current collective
  std::vector<std::byte> scratch_;
};

}  // namespace hone::dist
