#include "dist/communicator.h"

#include <algorithm>
#include <thread>

namespace hone::dist {
namespace {

NcclDataType nccl_type(const char* what, DType dtype) {
  switch (dtype) {
    case DType::kF32: return kNcclFloat32;
    case DType::kBF16: return kNcclBfloat16;
    case DType::kF16: return kNcclFloat16;
    case DType::kF64: return kNcclFloat64;
    case DType::kI32: return kNcclInt32;
    case DType::kI64: return kNcclInt64;
    case DType::kU8: return kNcclUint8;
    case DType::kU32: return kNcclUint32;
    default: break;
  }
  fail(Code::kShape, "%s: dtype %s cannot be exchanged.", what, dtype_name(dtype));
}

NcclRedOp nccl_op(ReduceOp op) { return op == ReduceOp::kSum ? kNcclSum : kNcclMax; }

void expect_buffer(const char* what, const TensorView& view) {
  if (!view.contiguous()) fail(Code::kShape, "%s: the rows of a buffer must lie side by side.", what);
  if (view.empty() && view.numel() > 0) {
    fail(Code::kShape, "%s: a buffer of %lld elements has no memory.", what, (long long)view.numel());
  }
}

/// `larger` holds one part of `smaller`'s size for each rank.
void expect_parts(const char* what, const TensorView& larger, const TensorView& smaller, int size) {
  if (larger.dtype != smaller.dtype || larger.numel() != smaller.numel() * size) {
    fail(Code::kShape, "%s: %s[%lld] and %s[%lld] do not fit together over %d ranks.", what, dtype_name(larger.dtype),
         (long long)larger.numel(), dtype_name(smaller.dtype), (long long)smaller.numel(), size);
  }
}

std::string milliseconds_text(std::chrono::milliseconds time) { return std::to_string(time.count()) + " ms"; }

}  // namespace

const char* state_name(State state) {
  switch (state) {
    case State::kUninitialised: return "uninitialised";
    case State::kInitialising: return "initialising";
    case State::kReady: return "ready";
    case State::kFailed: return "failed";
    case State::kAborted: return "aborted";
    case State::kClosed: return "closed";
  }
  return "?";
}

#ifndef HONE_HAVE_CUDA
bool stream_idle(const Stream&) { return true; }
#endif

Communicator::Communicator(std::shared_ptr<const NcclLibrary> library, CommunicatorOptions options)
    : library_(std::move(library)), options_(options) {}

Communicator::~Communicator() {
  const Lock lock(mutex_);
  release(State::kClosed, "destroyed");
}

NcclUniqueId Communicator::make_id(const NcclLibrary& library) {
  NcclUniqueId id{};
  const NcclResult result = library.functions().get_unique_id(&id);
  if (result != kNcclSuccess) {
    fail(Code::kCollective, "make_id: NCCL says: %s.", library.functions().get_error_string(result));
  }
  return id;
}

State Communicator::state() const {
  const Lock lock(mutex_);
  return state_;
}

void Communicator::initialise(const NcclUniqueId& id, int rank, int size) {
  Lock lock(mutex_);
  require(State::kUninitialised, "initialise");
  if (size < 1 || rank < 0 || rank >= size) fail(Code::kShape, "initialise: rank %d of %d ranks.", rank, size);
  rank_ = rank;
  size_ = size;
  state_ = State::kInitialising;
  NcclConfig config;
  const NcclResult first = library_->functions().init_rank_config(&comm_, size, id, rank, &config);
  settle(lock, "initialise", first, Clock::now() + options_.init_timeout);
  state_ = State::kReady;
}

void Communicator::broadcast(const Stream& stream, const TensorView& buffer, int root) {
  enqueue("broadcast", buffer, buffer, [&] {
    if (root < 0 || root >= size_) fail(Code::kShape, "broadcast: root %d of %d ranks.", root, size_);
    return library_->functions().broadcast(buffer.data, buffer.data, size_t(buffer.numel()),
                                           nccl_type("broadcast", buffer.dtype), root, comm_, stream.handle);
  });
}

void Communicator::all_reduce(const Stream& stream, const TensorView& buffer, ReduceOp op) {
  enqueue("all_reduce", buffer, buffer, [&] {
    return library_->functions().all_reduce(buffer.data, buffer.data, size_t(buffer.numel()),
                                            nccl_type("all_reduce", buffer.dtype), nccl_op(op), comm_, stream.handle);
  });
}

void Communicator::reduce_scatter(const Stream& stream, const TensorView& source, const TensorView& destination,
                                  ReduceOp op) {
  enqueue("reduce_scatter", source, destination, [&] {
    expect_parts("reduce_scatter", source, destination, size_);
    return library_->functions().reduce_scatter(source.data, destination.data, size_t(destination.numel()),
                                                nccl_type("reduce_scatter", source.dtype), nccl_op(op), comm_,
                                                stream.handle);
  });
}

void Communicator::all_gather(const Stream& stream, const TensorView& source, const TensorView& destination) {
  enqueue("all_gather", source, destination, [&] {
    expect_parts("all_gather", destination, source, size_);
    return library_->functions().all_gather(source.data, destination.data, size_t(source.numel()),
                                            nccl_type("all_gather", source.dtype), comm_, stream.handle);
  });
}

void Communicator::all_to_all(const Stream& stream, const TensorView& source, const TensorView& destination) {
  enqueue("all_to_all", source, destination, [&] {
    if (source.dtype != destination.dtype || source.numel() != destination.numel() || source.numel() % size_ != 0) {
      fail(Code::kShape, "all_to_all: %s[%lld] and %s[%lld] are not %d parts each.", dtype_name(source.dtype),
           (long long)source.numel(), dtype_name(destination.dtype), (long long)destination.numel(), size_);
    }
    const NcclFunctions& nccl = library_->functions();
    const NcclDataType type = nccl_type("all_to_all", source.dtype);
    const int64_t part = source.numel() / size_, bytes = part * dtype_bytes(source.dtype);
    NcclResult first_bad = nccl.group_start();
    const auto note = [&](NcclResult result) {
      if (first_bad == kNcclSuccess && result != kNcclInProgress) first_bad = result;
    };
    for (int peer = 0; peer < size_ && first_bad == kNcclSuccess; ++peer) {
      note(nccl.send(source.as<char>() + peer * bytes, size_t(part), type, peer, comm_, stream.handle));
      note(nccl.recv(destination.as<char>() + peer * bytes, size_t(part), type, peer, comm_, stream.handle));
    }
    const NcclResult end = nccl.group_end();  // always: the group belongs to this thread
    return first_bad == kNcclSuccess ? end : first_bad;
  });
}

bool Communicator::idle(const Stream& stream) {
  try {
    return options_.idle(stream);
  } catch (const Error& error) {
    give_up("wait", error.what());
  }
}

/// Checks, hands one operation to NCCL, and waits until it has taken it in (not until it has run).
void Communicator::enqueue(const char* what, const TensorView& a, const TensorView& b,
                           const std::function<NcclResult()>& call) {
  Lock lock(mutex_);
  require(State::kReady, what);
  expect_buffer(what, a);
  expect_buffer(what, b);
  if (a.numel() == 0) return;
  settle(lock, what, call(), Clock::now() + options_.timeout);
}

void Communicator::wait(const Stream& stream) {
  Lock lock(mutex_);
  require(State::kReady, "wait");
  const Clock::time_point deadline = Clock::now() + options_.timeout;
  for (int round = 0;; ++round) {
    const NcclResult error = async_error();
    if (error != kNcclSuccess && error != kNcclInProgress) give_up("wait", explain(error));
    if (idle(stream)) return;
    if (!pause(lock, deadline, round)) give_up("wait", "no end within " + milliseconds_text(options_.timeout));
    require(State::kReady, "wait");
  }
}

void Communicator::close() {
  Lock lock(mutex_);
  if (state_ == State::kReady) {
    const NcclFunctions& nccl = library_->functions();
    settle(lock, "close", nccl.finalize(comm_), Clock::now() + options_.timeout);
    const NcclResult result = nccl.destroy(comm_);
    comm_ = nullptr;
    state_ = State::kClosed;
    if (result != kNcclSuccess && result != kNcclInProgress) {
      fail(Code::kCollective, "close: rank %d of %d: %s.", rank_, size_, explain(result).c_str());
    }
    return;
  }
  release(State::kClosed, "closed");
}

void Communicator::abort(const std::string& reason) {
  const Lock lock(mutex_);
  if (state_ == State::kFailed || state_ == State::kAborted || state_ == State::kClosed) return;
  release(State::kAborted, reason);
}

/// Throws unless the state is the wanted one; what led to a failed or aborted state is part of the message.
void Communicator::require(State wanted, const char* what) const {
  if (state_ == wanted) return;
  const Code code = state_ == State::kAborted ? Code::kAborted : Code::kState;
  fail(code, "%s: the communicator is %s, not %s%s%s.", what, state_name(state_), state_name(wanted),
       why_.empty() ? "" : ": ", why_.c_str());
}

/// Polls until NCCL has done what `first` may only have begun. The lock is free between polls, so that abort() gets in.
void Communicator::settle(Lock& lock, const char* what, NcclResult first, Clock::time_point deadline) {
  const State during = state_;
  NcclResult result = first;
  for (int round = 0;; ++round) {
    if (result == kNcclInProgress) result = async_error();
    if (result == kNcclSuccess) return;
    if (result != kNcclInProgress) give_up(what, explain(result));
    if (!pause(lock, deadline, round)) {
      const auto limit = state_ == State::kInitialising ? options_.init_timeout : options_.timeout;
      give_up(what, "no answer within " + milliseconds_text(limit) + " (is every rank running?)");
    }
    require(during, what);
  }
}

NcclResult Communicator::async_error() const {
  NcclResult error = kNcclSuccess;
  const NcclResult result = library_->functions().get_async_error(comm_, &error);
  return result == kNcclSuccess ? error : result;
}

/// Sleeps 50 us at first, 2 ms later; false once the deadline has passed.
bool Communicator::pause(Lock& lock, Clock::time_point deadline, int round) {
  if (Clock::now() >= deadline) return false;
  lock.unlock();
  std::this_thread::sleep_for(std::chrono::microseconds(std::min(2000, 50 << std::min(round, 6))));
  lock.lock();
  return true;
}

/// Gives back what NCCL holds and goes to `next`.
void Communicator::release(State next, const std::string& why) {
  if (comm_) library_->functions().abort(comm_);
  comm_ = nullptr;
  state_ = next;
  why_ = why;
}

void Communicator::give_up(const char* what, const std::string& why) {
  release(State::kFailed, std::string(what) + ": " + why);
  fail(Code::kCollective, "%s: rank %d of %d: %s.", what, rank_, size_, why.c_str());
}

std::string Communicator::explain(NcclResult result) const {
  const NcclFunctions& nccl = library_->functions();
  std::string text = std::string("NCCL says: ") + nccl.get_error_string(result);
  const char* detail = comm_ ? nccl.get_last_error(comm_) : nullptr;
  if (detail && *detail) text += std::string(" (") + detail + ")";
  return text;
}

}  // namespace hone::dist
