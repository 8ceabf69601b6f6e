#include "addon/job_thread.h"

#include <utility>

namespace hone::addon {

void JobThread::start(std::function<bool()> idle, Job ended) {
  idle_ = std::move(idle);
  thread_ = std::thread([this, ended = std::move(ended)] {
    loop();
    cancel_rest();
    ended();
  });
}

void JobThread::loop() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (!mailbox_.empty()) {
      const Entry entry = std::move(mailbox_.front());
      mailbox_.pop_front();
      lock.unlock();
      entry.run();
      lock.lock();
      continue;
    }
    lock.unlock();
    const bool busy = idle_ && idle_();
    lock.lock();
    if (!busy) wake_.wait(lock, [this] { return stop_ || !mailbox_.empty(); });
  }
}

void JobThread::cancel_rest() {
  std::deque<Entry> rest;
  {
    std::lock_guard lock(mutex_);
    std::swap(rest, mailbox_);
  }
  for (const Entry& entry : rest) {
    if (entry.cancelled) entry.cancelled();
  }
}

bool JobThread::post(Job run, Job cancelled) {
  {
    std::lock_guard lock(mutex_);
    if (stop_) return false;
    mailbox_.push_back({std::move(run), std::move(cancelled)});
  }
  wake_.notify_one();
  return true;
}

void JobThread::stop() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
}

bool JobThread::stopped() const {
  std::lock_guard lock(mutex_);
  return stop_;
}

void JobThread::join() {
  if (thread_.joinable()) thread_.join();
  idle_ = nullptr;
}

}  // namespace hone::addon
