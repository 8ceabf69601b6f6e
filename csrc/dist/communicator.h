// A group of ranks, one GPU each, that exchange tensors: NCCL without its hangs.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "core/stream.h"
#include "core/tensor.h"
#include "dist/nccl_library.h"

namespace hone::dist {

/// uninitialised -> initialising -> ready -> closed. A fault or a time-out leads to failed, abort() to aborted; both
/// have released everything already, and close() is all they still take.
enum class State : uint8_t { kUninitialised, kInitialising, kReady, kFailed, kAborted, kClosed };
const char* state_name(State state);

enum class ReduceOp : uint8_t { kSum, kMax };

/// True once everything queued on the stream has run; never blocks. Throws if the device reports an error.
using StreamProbe = bool (*)(const Stream&);
bool stream_idle(const Stream& stream);

struct CommunicatorOptions {
  std::chrono::milliseconds init_timeout{120'000};
  /// For a collective to be accepted, for wait(), and for close().
  std::chrono::milliseconds timeout{600'000};
  StreamProbe idle = stream_idle;
};

/// Nothing here blocks for longer than its time-out: NCCL runs in its non-blocking mode, is polled, and is aborted
/// when time is up or a rank reports an error. One thread calls everything but abort() and state(), which any may.
///
/// Every call throws kState in a state it is not for (the message names the state and what led to it), kShape for
/// buffers that do not fit together, kCollective for a remote or asynchronous error or a time-out, kAborted after
/// abort(). Buffers must live until wait() has returned, or the communicator has failed.
class Communicator {
 public:
  explicit Communicator(std::shared_ptr<const NcclLibrary> library, CommunicatorOptions options = {});
  /// Aborts what is still open.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// Made by one rank and carried to the others, which pass it to initialise(). That rank must outlive their call.
  static NcclUniqueId make_id(const NcclLibrary& library);

  /// Joins `size` ranks; returns when all have. Uninitialised only.
  void initialise(const NcclUniqueId& id, int rank, int size);

  /// Each queues one operation on the stream; ready only. All ranks call the same in the same order.
  /// `buffer` of rank root is copied into everybody else's.
  void broadcast(const Stream& stream, const TensorView& buffer, int root);
  /// In place.
  void all_reduce(const Stream& stream, const TensorView& buffer, ReduceOp op);
  /// source [size * n] -> destination [n]: this rank's part of the sum or maximum.
  void reduce_scatter(const Stream& stream, const TensorView& source, const TensorView& destination, ReduceOp op);
  /// source [n] -> destination [size * n], rank after rank.
  void all_gather(const Stream& stream, const TensorView& source, const TensorView& destination);
  /// source [size * n] -> destination [size * n]: part p goes to rank p, part p of the result came from rank p.
  void all_to_all(const Stream& stream, const TensorView& source, const TensorView& destination);

  /// Returns when everything queued on the stream has run on this rank.
  void wait(const Stream& stream);
  /// Lets queued operations end, then leaves the group. Idempotent; from failed and aborted it only changes the state.
  void close();
  /// From any thread, at any time, idempotent: whoever waits gets kAborted. Queued operations are lost.
  void abort(const std::string& reason);

  State state() const;
  int rank() const { return rank_; }
  int size() const { return size_; }

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Clock = std::chrono::steady_clock;

  void enqueue(const char* what, const TensorView& a, const TensorView& b, const std::function<NcclResult()>& call);
  void require(State wanted, const char* what) const;
  void settle(Lock& lock, const char* what, NcclResult first, Clock::time_point deadline);
  bool idle(const Stream& stream);
  NcclResult async_error() const;
  bool pause(Lock& lock, Clock::time_point deadline, int round);
  void release(State next, const std::string& why);
  [[noreturn]] void give_up(const char* what, const std::string& why);
  std::string explain(NcclResult result) const;

  std::shared_ptr<const NcclLibrary> library_;
  CommunicatorOptions options_;
  mutable std::mutex mutex_;  // held around every call into NCCL, so that no two threads are ever inside it
  State state_ = State::kUninitialised;
  std::string why_;  // what led to failed or aborted
  NcclComm_t comm_ = nullptr;
  int rank_ = 0, size_ = 0;
};

}  // namespace hone::dist
