#include "dist/host_collectives.h"

#include <cstring>

#include "core/error.h"
#include "dist/reduce.h"

namespace hone::dist {
namespace {

constexpr uint64_t kTeamTags = uint64_t(1) << 55;  // separates tags of team collectives from those of all ranks
// up to this size every rank reduces all elements, which takes one round of messages instead of two
constexpr int64_t kSmallBytes = 16 << 10;

const char* kind_name(Label::Kind kind) {
  switch (kind) {
    case Label::Kind::kBroadcast: return "broadcast";
    case Label::Kind::kAllReduce: return "all_reduce";
    case Label::Kind::kReduceScatter: return "reduce_scatter";
    case Label::Kind::kAllGather: return "all_gather";
    case Label::Kind::kAllToAll: return "all_to_all";
    case Label::Kind::kTeamAllToAll: return "team_all_to_all";
    case Label::Kind::kClose: return "close";
  }
  return "?";
}

std::byte* at(const TensorView& view, int64_t element) {
  return view.as<std::byte>() + element * dtype_bytes(view.dtype);
}

/// Part p when n elements are divided into `parts` parts.
struct Part {
  int64_t first, count;
  Part(int64_t n, int p, int parts) : first(n * p / parts), count(n * (p + 1) / parts - first) {}
};

void copy_within(std::byte* to, const std::byte* from, int64_t bytes) {
  if (to != from && bytes > 0) std::memmove(to, from, size_t(bytes));
}

/// The parts that an all-to-all sends to, and receives from, each peer; the constructor copies the rank's own
/// part.
struct Parts {
  Transport::Pieces sends, receives;
  Parts(const TensorView& source, const TensorView& destination, const Peers& peers, int own) {
    const int64_t n = source.numel() / peers.count, bytes = n * dtype_bytes(source.dtype);
    for (int part = 0; part < peers.count; ++part) {
      const int peer = peers.first + part;
      if (peer == own) {
        copy_within(at(destination, part * n), at(source, part * n), bytes);
        continue;
      }
      sends.push_back({peer, at(source, part * n), bytes});
      receives.push_back({peer, at(destination, part * n), bytes});
    }
  }
};

}  // namespace

std::string Label::text() const {
  std::string out = kind_name(kind);
  if (kind == Kind::kAllReduce || kind == Kind::kReduceScatter) out += op == ReduceOp::kSum ? " sum" : " max";
  if (kind != Kind::kClose) out += std::string(" of ") + dtype_name(dtype) + "[" + std::to_string(count) + "]";
  if (kind == Kind::kBroadcast) out += " from rank " + std::to_string(root);
  if (kind == Kind::kTeamAllToAll) out += " in teams of " + std::to_string(root);
  return out + " as collective " + std::to_string(sequence);
}

/// Begins a collective. Throws if the ranks' labels differ, which means that the ranks made different calls.
void HostCollectives::begin(Label label, const Peers& peers, uint64_t& sequence) {
  deadline_ = std::chrono::steady_clock::now() + timeout_;
  label.sequence = ++sequence;
  tag_ = label.sequence | (&sequence == &team_sequence_ ? kTeamTags : 0);
  round_ = 0;
  std::vector<Label> labels(static_cast<size_t>(size()));
  Pieces sends, receives;
  for (int peer = peers.first; peer < peers.first + peers.count; ++peer) {
    if (peer == rank()) continue;
    sends.push_back({peer, &label, sizeof(Label)});
    receives.push_back({peer, &labels[size_t(peer)], sizeof(Label)});
  }
  exchange(sends, receives);
  for (const auto& [peer, data, bytes] : receives) {
    if (std::memcmp(data, &label, sizeof(Label)) == 0) continue;
    fail(Code::kCollective, "%s: rank %d calls %s, rank %d calls %s. All ranks must call the same in the same order.",
         kind_name(label.kind), rank(), label.text().c_str(), peer, labels[size_t(peer)].text().c_str());
  }
}

void HostCollectives::exchange(const Pieces& sends, const Pieces& receives) {
  transport_->exchange(tag_ << 8 | round_++, sends, receives, deadline_);
}

std::byte* HostCollectives::scratch(int64_t bytes) {
  if (int64_t(scratch_.size()) < bytes) scratch_.resize(size_t(bytes));
  return scratch_.data();
}

/// Sends along a binomial tree: in round k, the first 2^k ranks, counted from the root, send the data to the
/// next 2^k.
void HostCollectives::broadcast(const TensorView& buffer, int root) {
  begin({.count = buffer.numel(), .kind = Label::Kind::kBroadcast, .dtype = buffer.dtype, .root = root});
  const int64_t bytes = buffer.numel() * dtype_bytes(buffer.dtype);
  const int place = (rank() - root + size()) % size();
  for (int have = 1; have < size(); have *= 2) {
    Pieces sends, receives;
    if (place < have && place + have < size()) sends.push_back({(rank() + have) % size(), buffer.data, bytes});
    if (place >= have && place < 2 * have) receives.push_back({(rank() - have + size()) % size(), buffer.data, bytes});
    exchange(sends, receives);
  }
}

void HostCollectives::all_reduce(const TensorView& buffer, ReduceOp op) {
  begin({.count = buffer.numel(), .kind = Label::Kind::kAllReduce, .dtype = buffer.dtype, .op = op});
  const bool small = buffer.numel() * dtype_bytes(buffer.dtype) <= kSmallBytes;
  if (size() > 1) small ? reduce_small(buffer, op) : reduce_in_parts(buffer, op);
}

void HostCollectives::reduce_small(const TensorView& buffer, ReduceOp op) {
  const int64_t bytes = buffer.numel() * dtype_bytes(buffer.dtype);
  std::byte* const theirs = scratch(bytes * size());
  std::vector<const void*> parts;
  Pieces sends, receives;
  for (int peer = 0; peer < size(); ++peer) {
    parts.push_back(peer == rank() ? buffer.data : theirs + peer * bytes);
    if (peer == rank()) continue;
    sends.push_back({peer, buffer.data, bytes});
    receives.push_back({peer, theirs + peer * bytes, bytes});
  }
  exchange(sends, receives);
  reduce(buffer.dtype, op, parts, buffer.numel(), buffer.data);
}

/// Every rank reduces its own part of the elements and sends it to all others. Parts may be empty: n need not
/// be a multiple of P.
void HostCollectives::reduce_in_parts(const TensorView& buffer, ReduceOp op) {
  const int64_t n = buffer.numel(), width = dtype_bytes(buffer.dtype);
  const Part mine(n, rank(), size());
  std::byte* const theirs = scratch(mine.count * width * size());
  std::vector<const void*> parts;
  Pieces sends, receives, results, wholes;
  for (int peer = 0; peer < size(); ++peer) {
    std::byte* const here = theirs + peer * mine.count * width;
    const Part part(n, peer, size());
    parts.push_back(peer == rank() ? at(buffer, mine.first) : here);
    if (peer == rank()) continue;
    sends.push_back({peer, at(buffer, part.first), part.count * width});
    receives.push_back({peer, here, mine.count * width});
    results.push_back({peer, at(buffer, mine.first), mine.count * width});
    wholes.push_back({peer, at(buffer, part.first), part.count * width});
  }
  exchange(sends, receives);
  reduce(buffer.dtype, op, parts, mine.count, at(buffer, mine.first));
  exchange(results, wholes);
}

void HostCollectives::reduce_scatter(const TensorView& source, const TensorView& destination, ReduceOp op) {
  begin({.count = destination.numel(), .kind = Label::Kind::kReduceScatter, .dtype = source.dtype, .op = op});
  const int64_t n = destination.numel(), bytes = n * dtype_bytes(source.dtype);
  std::byte* const theirs = scratch(bytes * size());
  std::vector<const void*> parts;
  Pieces sends, receives;
  for (int peer = 0; peer < size(); ++peer) {
    parts.push_back(peer == rank() ? at(source, rank() * n) : theirs + peer * bytes);
    if (peer == rank()) continue;
    sends.push_back({peer, at(source, peer * n), bytes});
    receives.push_back({peer, theirs + peer * bytes, bytes});
  }
  exchange(sends, receives);
  reduce(source.dtype, op, parts, n, destination.data);
}

void HostCollectives::all_gather(const TensorView& source, const TensorView& destination) {
  begin({.count = source.numel(), .kind = Label::Kind::kAllGather, .dtype = source.dtype});
  const int64_t n = source.numel(), bytes = n * dtype_bytes(source.dtype);
  copy_within(at(destination, rank() * n), at(source, 0), bytes);
  Pieces sends, receives;
  for (int peer = 0; peer < size(); ++peer) {
    if (peer == rank()) continue;
    sends.push_back({peer, source.data, bytes});
    receives.push_back({peer, at(destination, peer * n), bytes});
  }
  exchange(sends, receives);
}

void HostCollectives::all_to_all(const TensorView& source, const TensorView& destination) {
  begin({.count = source.numel() / size(), .kind = Label::Kind::kAllToAll, .dtype = source.dtype});
  const Parts parts(source, destination, {0, size()}, rank());
  exchange(parts.sends, parts.receives);
}

void HostCollectives::team_all_to_all(const TensorView& source, const TensorView& destination, int team) {
  const Peers peers{rank() / team * team, team};
  begin({.count = source.numel() / team, .kind = Label::Kind::kTeamAllToAll, .dtype = source.dtype, .root = team}, peers, team_sequence_);
  const Parts parts(source, destination, peers, rank());
  exchange(parts.sends, parts.receives);
}

void HostCollectives::close() { begin({.kind = Label::Kind::kClose}); }

}  // namespace hone::dist
