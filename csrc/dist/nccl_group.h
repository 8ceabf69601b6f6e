// Membership of one rank in an NCCL group: joining, waiting and leaving, each with a time-out in place of
// NCCL's hangs.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "core/stream.h"
#include "dist/nccl_handle.h"
#include "dist/state.h"

namespace hone::dist {

/// True once everything queued on the stream has run; never blocks. Throws if the device reports an error.
using StreamProbe = bool (*)(const Stream&);
bool stream_idle(const Stream& stream);

struct CommunicatorOptions {
  std::chrono::milliseconds init_timeout{120'000};
  /// Limit for a collective to be accepted, for wait(), and for close().
  std::chrono::milliseconds timeout{600'000};
  StreamProbe idle = stream_idle;
};

/// No call blocks for longer than its time-out: NCCL runs in non-blocking mode, is polled, and is aborted on a time-out
/// or when a rank reports an error. One thread makes all calls except abort() and state(), which any thread may make.
/// 
/// Every call throws kState in a state that does not allow it (the message names the state and its cause), kCollective
/// for a remote or asynchronous error or a time-out, kAborted after abort().
class NcclGroup {
 public:
  NcclGroup(std::shared_ptr<const NcclLibrary> library, CommunicatorOptions options);
  /// Aborts the NCCL communicator if it is still open.
  ~NcclGroup();

  /// Joins a group of `size` ranks; returns when all have joined. Allowed only in state kUninitialised.
  /// Throws kShape for a rank outside the group.
  void join(const NcclUniqueId& id, int rank, int size);

  /// Hands one operation to NCCL and returns when NCCL has accepted it (not when it has run). Allowed only in
  /// state kReady. `call` checks its arguments and calls NCCL; it throws, or returns NCCL's result.
  using Call = std::function<NcclResult(const NcclFunctions&, NcclComm_t)>;
  void enqueue(const char* what, const Call& call);

  /// Returns when everything queued on the stream has run on this rank.
  void wait(const Stream& stream);
  /// Lets queued operations end, then leaves the group. Idempotent; a failed or aborted group only changes
  /// its state.
  void leave();
  /// May be called from any thread at any time; idempotent. Pending calls throw kAborted and queued
  /// operations are lost.
  void abort(const std::string& reason);

  State state() const;
  int rank() const { return rank_; }
  int size() const { return size_; }

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Clock = std::chrono::steady_clock;

  void require(State wanted, const char* what) const { require_state(state_, wanted, what, why_); }
  void settle(Lock& lock, const char* what, NcclResult first, Clock::time_point deadline);
  bool idle(const Stream& stream);
  bool pause(Lock& lock, Clock::time_point deadline, int round);
  void release(State next, const std::string& why);
  [[noreturn]] void give_up(const char* what, const std::string& why);

  CommunicatorOptions options_;
  mutable std::mutex mutex_;  // held around every call into NCCL, so that no two threads are ever inside it
  NcclHandle nccl_;
  State state_ = State::kUninitialised;
  std::string why_;  // cause of kFailed or kAborted
  int rank_ = 0, size_ = 0;
};

}  // namespace hone::dist
