#include "dist/nccl_group.h"

#include <algorithm>
#include <thread>

#include "core/error.h"

namespace hone::dist {
namespace {

std::string milliseconds_text(std::chrono::milliseconds time) { return std::to_string(time.count()) + " ms"; }

}  // namespace

#ifndef HONE_HAVE_CUDA
bool stream_idle(const Stream&) { return true; }
#endif

NcclGroup::NcclGroup(std::shared_ptr<const NcclLibrary> library, CommunicatorOptions options)
    : options_(options), nccl_(std::move(library)) {}

NcclGroup::~NcclGroup() {
  const Lock lock(mutex_);
  release(State::kClosed, "destroyed");
}

State NcclGroup::state() const {
  const Lock lock(mutex_);
  return state_;
}

void NcclGroup::join(const NcclUniqueId& id, int rank, int size) {
  Lock lock(mutex_);
  require(State::kUninitialised, "initialise");
  if (size < 1 || rank < 0 || rank >= size) fail(Code::kShape, "initialise: rank %d of %d ranks.", rank, size);
  rank_ = rank;
  size_ = size;
  state_ = State::kInitialising;
  settle(lock, "initialise", nccl_.create(id, rank, size), Clock::now() + options_.init_timeout);
  state_ = State::kReady;
}

void NcclGroup::enqueue(const char* what, const Call& call) {
  Lock lock(mutex_);
  require(State::kReady, what);
  settle(lock, what, call(nccl_.functions(), nccl_.get()), Clock::now() + options_.timeout);
}

void NcclGroup::wait(const Stream& stream) {
  Lock lock(mutex_);
  require(State::kReady, "wait");
  const Clock::time_point deadline = Clock::now() + options_.timeout;
  for (int round = 0;; ++round) {
    const NcclResult error = nccl_.poll();
    if (error != kNcclSuccess && error != kNcclInProgress) give_up("wait", nccl_.explain(error));
    if (idle(stream)) return;
    if (!pause(lock, deadline, round)) give_up("wait", "no end within " + milliseconds_text(options_.timeout));
    require(State::kReady, "wait");
  }
}

void NcclGroup::leave() {
  Lock lock(mutex_);
  if (state_ != State::kReady) {
    release(State::kClosed, "closed");
    return;
  }
  settle(lock, "close", nccl_.finalize(), Clock::now() + options_.timeout);
  const NcclResult result = nccl_.destroy();
  state_ = State::kClosed;
  if (result != kNcclSuccess && result != kNcclInProgress) {
    fail(Code::kCollective, "close: rank %d of %d: %s.", rank_, size_, nccl_.explain(result).c_str());
  }
}

void NcclGroup::abort(const std::string& reason) {
  const Lock lock(mutex_);
  if (state_ == State::kFailed || state_ == State::kAborted || state_ == State::kClosed) return;
  release(State::kAborted, reason);
}

/// Polls until NCCL has finished an operation that `first` may only have started. Releases the lock between
/// polls, so that abort() can take it.
void NcclGroup::settle(Lock& lock, const char* what, NcclResult first, Clock::time_point deadline) {
  const State during = state_;
  NcclResult result = first;
  for (int round = 0;; ++round) {
    if (result == kNcclInProgress) result = nccl_.poll();
    if (result == kNcclSuccess) return;
    if (result != kNcclInProgress) give_up(what, nccl_.explain(result));
    if (!pause(lock, deadline, round)) {
      const auto limit = state_ == State::kInitialising ? options_.init_timeout : options_.timeout;
      give_up(what, "no answer within " + milliseconds_text(limit) + " (is every rank running?)");
    }
    require(during, what);
  }
}

bool NcclGroup::idle(const Stream& stream) {
  try {
    return options_.idle(stream);
  } catch (const Error& error) {
    give_up("wait", error.what());
  }
}

/// Sleeps between polls: 50 us at first, 2 ms later. Returns false if the deadline has passed.
bool NcclGroup::pause(Lock& lock, Clock::time_point deadline, int round) {
  if (Clock::now() >= deadline) return false;
  lock.unlock();
  std::this_thread::sleep_for(std::chrono::microseconds(std::min(2000, 50 << std::min(round, 6))));
  lock.lock();
  return true;
}

/// Releases all resources that NCCL holds and changes to state `next`.
void NcclGroup::release(State next, const std::string& why) {
  nccl_.abort();
  state_ = next;
  why_ = why;
}

void NcclGroup::give_up(const char* what, const std::string& why) {
  release(State::kFailed, std::string(what) + ": " + why);
  fail(Code::kCollective, "%s: rank %d of %d: %s.", what, rank_, size_, why.c_str());
}

}  // namespace hone::dist
