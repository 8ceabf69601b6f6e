// Creates ranks as threads of one process: communicators over a transport through shared memory, which can
// inject faults.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "core/error.h"
#include "dist/host_communicator.h"
#include "outcomes.h"

namespace hone::test {

/// A fault of one rank in its n-th collective (the first is 1). kDamages flips a bit of the data that the
/// rank receives; labels are exchanged before any data.
struct LocalFault {
  enum class Kind : uint8_t { kNone, kDies, kDiesHalfway, kHangs, kWrongCount, kDamages } kind = Kind::kNone;
  int rank = 0;
  uint64_t collective = 1;
};

/// Holds what ranks send, as "letters": pointers to the sender's memory, so that a sender waits until its
/// letter is taken.
class LocalPost {
 public:
  explicit LocalPost(int size, LocalFault fault = {})
      : size(size), fault(fault), gone_(size_t(size)), interrupted_(size_t(size)) {}

  const int size;
  const LocalFault fault;

  using Key = std::tuple<int, int, uint64_t>;  // from, to, tag
  struct Letter {
    const void* data = nullptr;
    int64_t bytes = 0;
  };

  void post(int rank, uint64_t tag, const dist::Transport::Pieces& sends) {
    const std::lock_guard lock(mutex_);
    for (const auto& [peer, data, bytes] : sends) letters_[{rank, peer, tag}] = {data, bytes};
    changed_.notify_all();
  }

  void take(int rank, uint64_t tag, const dist::Transport::Piece& piece, dist::Transport::Deadline deadline) {
    std::unique_lock lock(mutex_);
    const Key key{piece.peer, rank, tag};
    await(lock, rank, piece.peer, deadline, [&] { return letters_.count(key) > 0; });
    const Letter letter = letters_.at(key);
    if (letter.bytes != piece.bytes) fail(Code::kInternal, "exchange: a letter has another length than its reader expects.");
    std::memcpy(piece.data, letter.data, size_t(letter.bytes));
    const bool struck = fault.kind == LocalFault::Kind::kDamages && fault.rank == rank && tag >> 8 == fault.collective;
    if (struck && (tag & 255) > 0) static_cast<char*>(piece.data)[letter.bytes / 2] ^= 4;
    letters_.erase(key);
    changed_.notify_all();
  }

  void until_taken(int rank, uint64_t tag, const dist::Transport::Piece& piece, dist::Transport::Deadline deadline) {
    std::unique_lock lock(mutex_);
    await(lock, rank, piece.peer, deadline, [&] { return letters_.count({rank, piece.peer, tag}) == 0; });
  }

  /// Removes the letters that this rank has sent, so that no other rank reads its memory any more.
  void withdraw(int rank) {
    const std::lock_guard lock(mutex_);
    std::erase_if(letters_, [&](const auto& entry) { return std::get<0>(entry.first) == rank; });
  }

  /// Blocks until the deadline or an interruption.
  void hang(int rank, dist::Transport::Deadline deadline) {
    std::unique_lock lock(mutex_);
    await(lock, rank, rank, deadline, [] { return false; });
  }

  void set_gone(int rank) { set(gone_, rank); }
  void set_interrupted(int rank) { set(interrupted_, rank); }

 private:
  template <class Condition>
  void await(std::unique_lock<std::mutex>& lock, int rank, int peer, dist::Transport::Deadline deadline,
             const Condition& condition) {
    const auto settled = [&] { return interrupted_[size_t(rank)] || condition() || gone_[size_t(peer)]; };
    const bool in_time = changed_.wait_until(lock, deadline, settled);
    if (interrupted_[size_t(rank)]) fail(Code::kAborted, "exchange: interrupted.");
    if (condition()) return;
    if (!in_time) fail(Code::kCollective, "rank %d of %d: no answer from rank %d in time.", rank, size, peer);
    fail(Code::kCollective, "rank %d of %d: rank %d is gone.", rank, size, peer);
  }

  void set(std::vector<bool>& flags, int rank) {
    const std::lock_guard lock(mutex_);
    flags[size_t(rank)] = true;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, Letter> letters_;
  std::vector<bool> gone_, interrupted_;
};

class LocalTransport final : public dist::Transport {
 public:
  LocalTransport(std::shared_ptr<LocalPost> post, int rank) : post_(std::move(post)), rank_(rank) {}
  ~LocalTransport() override { leave(); }

  int rank() const override { return rank_; }
  int size() const override { return post_->size; }
  void interrupt() override { post_->set_interrupted(rank_); }
  void leave() override { post_->set_gone(rank_); }

  void exchange(uint64_t tag, const Pieces& sends, const Pieces& receives, Deadline deadline) override {
    Pieces given = sends;
    dist::Label changed;
    inject(tag, given, changed, deadline);
    post_->post(rank_, tag, given);
    try {
      for (const Piece& piece : receives) post_->take(rank_, tag, piece, deadline);
      for (const Piece& piece : sends) post_->until_taken(rank_, tag, piece, deadline);
    } catch (...) {
      post_->withdraw(rank_);
      throw;
    }
  }

 private:
  using Kind = LocalFault::Kind;

  void inject(uint64_t tag, Pieces& sends, dist::Label& changed, Deadline deadline) {
    const LocalFault& fault = post_->fault;
    if (fault.kind == Kind::kNone || fault.rank != rank_ || tag >> 8 != fault.collective) return;
    const bool labels = (tag & 255) == 0;
    if (fault.kind == Kind::kHangs) post_->hang(rank_, deadline);
    if (fault.kind == Kind::kDies || (fault.kind == Kind::kDiesHalfway && !labels)) {
      leave();
      fail(Code::kCollective, "rank %d of %d: died, as it was told to.", rank_, size());
    }
    if (fault.kind != Kind::kWrongCount || !labels) return;
    for (Piece& piece : sends) {
      std::memcpy(&changed, piece.data, sizeof(changed));
      ++changed.count;
      piece.data = &changed;
    }
  }

  std::shared_ptr<LocalPost> post_;
  int rank_;
};

/// Creates one communicator per rank, each for its own thread.
inline std::vector<std::unique_ptr<dist::HostCommunicator>> local_communicators(int size, milliseconds timeout,
                                                                                LocalFault fault = {}) {
  const auto post = std::make_shared<LocalPost>(size, fault);
  std::vector<std::unique_ptr<dist::HostCommunicator>> all;
  for (int rank = 0; rank < size; ++rank) {
    all.push_back(std::make_unique<dist::HostCommunicator>(std::make_unique<LocalTransport>(post, rank), timeout));
  }
  return all;
}

/// Runs `body` on one thread per rank. Returns what each rank threw: its message, or "ok". A communicator is
/// destroyed when its body ends.
inline std::vector<std::string> local_ranks(int size, milliseconds timeout, LocalFault fault,
                                            const std::function<void(dist::Communicator&, int rank)>& body) {
  auto groups = local_communicators(size, timeout, fault);
  std::vector<std::string> said(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      const auto group = std::move(groups[size_t(rank)]);
      said[size_t(rank)] = outcome([&] { body(*group, rank); });
    });
  }
  for (std::thread& thread : threads) thread.join();
  return said;
}

}  // namespace hone::test
