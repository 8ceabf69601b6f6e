#include "dist/host_queue.h"

#if defined(__linux__)
#include <pthread.h>
#endif

#include <new>
#include <utility>

namespace hone::dist {

HostQueue::HostQueue(Transport& transport) : transport_(transport) {
  thread_ = std::thread([this] { serve(); });
#if defined(__linux__)
  // profilers show a process's time by thread name
  pthread_setname_np(thread_.native_handle(), "hone-ranks");
#endif
}

HostQueue::~HostQueue() {
  abort("destroyed");
  {
    const Lock lock(mutex_);
    end(State::kClosed, why_);
  }
  thread_.join();
}

State HostQueue::state() const {
  const Lock lock(mutex_);
  return state_;
}

void HostQueue::serve() {
  Lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return state_ == State::kClosed || !queue_.empty(); });
    if (state_ == State::kClosed) return;
    const Job job = std::move(queue_.front());
    queue_.pop_front();
    run(lock, job);
  }
}

/// Runs a job without holding the lock, so that abort() can take it.
void HostQueue::run(Lock& lock, const Job& job) {
  running_ = true;
  lock.unlock();
  std::optional<Error> failure;
  try {
    job();
  } catch (const Error& error) {
    failure = error;
  } catch (const std::bad_alloc&) {  // may be thrown when memory for other ranks' data is allocated
    failure.emplace(Code::kOutOfMemory, "a collective could not allocate memory.");
  }
  lock.lock();
  running_ = false;
  if (failure && state_ == State::kReady) {
    const std::string text = failure->what();
    end(State::kFailed, text.substr(0, text.find_last_not_of('.') + 1));
    untold_ = std::move(failure);
  }
  if (state_ != State::kReady) transport_.leave();
  changed_.notify_all();
}

void HostQueue::push(Job job) {
  queue_.push_back(std::move(job));
  changed_.notify_all();
}

void HostQueue::end(State state, const std::string& why) {
  queue_.clear();
  state_ = state;
  why_ = why;
  changed_.notify_all();
}

void HostQueue::settle(Lock& lock) {
  changed_.wait(lock, [&] { return !running_ && queue_.empty(); });
}

void HostQueue::require_ready(Lock& lock, const char* what) {
  if (state_ == State::kReady) return;
  settle(lock);
  if (const std::optional<Error> failure = std::exchange(untold_, std::nullopt)) throw *failure;
  require_state(state_, State::kReady, what, why_);
}

void HostQueue::submit(const char* what, Job job) {
  Lock lock(mutex_);
  require_ready(lock, what);
  push(std::move(job));
}

void HostQueue::wait() {
  Lock lock(mutex_);
  require_ready(lock, "wait");
  settle(lock);
  require_ready(lock, "wait");
}

void HostQueue::close(Job last) {
  Lock lock(mutex_);
  const bool open = state_ == State::kReady;
  if (open) push(std::move(last));
  settle(lock);
  const bool called_off = open && state_ == State::kAborted;
  const std::optional<Error> failure = std::exchange(untold_, std::nullopt);
  end(State::kClosed, why_);
  transport_.leave();
  if (failure) throw *failure;
  if (called_off) fail(Code::kAborted, "close: the communicator is aborted: %s.", why_.c_str());
}

void HostQueue::abort(const std::string& reason) {
  const Lock lock(mutex_);
  if (state_ != State::kReady) return;
  end(State::kAborted, reason);
  transport_.interrupt();
  // if a job is running, the queue's thread leaves the group once the job no longer uses the buffers
  if (!running_) transport_.leave();
}

}  // namespace hone::dist
