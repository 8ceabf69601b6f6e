#include "core/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "core/cpu_quota.h"
#include "core/error.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif
#if defined(__linux__)
#include <sched.h>
#endif

namespace hone {
namespace {

constexpr int kSlots = 16;
constexpr uint32_t kClosed = 0xffffffff;  // more than the number of chunks that a call can have
constexpr std::chrono::microseconds kSpin{20};

thread_local bool inside_chunk = false;
thread_local const void* occupied = nullptr;  // the pool that counts this thread as a caller

void pause_cpu() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // yield does nothing on most arm64 processors
#endif
}

/// Polls `ready` for about kSpin; returns whether it became true.
template <class F>
bool spin(F ready) {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 16; ++i) {
      if (ready()) return true;
      pause_cpu();
    }
  } while (std::chrono::steady_clock::now() < end);
  return ready();
}

/// State of one running parallel_for. Slots live as long as the pool, so that a late helper may always read
/// one. Every call has its own generation, and closes `word` before it writes the other fields: a helper that
/// read fields of two different calls then fails its compare-and-swap.
struct alignas(64) Slot {
  std::atomic<uint64_t> word{0};  // generation << 32 | chunks claimed so far
  std::atomic<uint32_t> chunks{0};
  std::atomic<int64_t> n{0}, grain{1};
  std::atomic<const RangeFunction*> f{nullptr};
  alignas(64) std::atomic<uint32_t> done{0};
  std::atomic<bool> taken{false}, thrown{false}, sleeping{false};
  // written by the thread that set `thrown`; read by the caller after all chunks
  std::exception_ptr exception;
  std::mutex mutex;
  std::condition_variable finished;

  void open(int64_t new_n, int64_t new_grain, uint32_t new_chunks, const RangeFunction& new_f) {
    const uint64_t generation = (word.load() >> 32) + 1;
    word.store(generation << 32 | kClosed);
    f.store(&new_f, std::memory_order_release);
    n.store(new_n, std::memory_order_release);
    grain.store(new_grain, std::memory_order_release);
    chunks.store(new_chunks, std::memory_order_release);
    done.store(0, std::memory_order_relaxed);
    thrown.store(false, std::memory_order_relaxed);
    word.store(generation << 32, std::memory_order_release);
  }
};

}  // namespace

struct ThreadPool::Impl {
  Slot slots[kSlots];
  std::atomic<int> callers{0};   // number of threads inside parallel_for; each occupies a core
  std::atomic<int> sleepers{0};
  std::atomic<uint64_t> calls{0};  // incremented when work appears
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::condition_variable work;
  std::vector<std::thread> helpers;

  Slot* take_slot();
  bool run_one(Slot& slot);
  bool help(int rank);
  void helper_loop(int rank);
  void wake();
  void finish(Slot& slot, uint32_t chunks);
};

Slot* ThreadPool::Impl::take_slot() {
  for (Slot& slot : slots) {
    if (!slot.taken.load(std::memory_order_relaxed) && !slot.taken.exchange(true, std::memory_order_acquire)) {
      return &slot;
    }
  }
  return nullptr;
}

/// Claims and runs one chunk; returns false if none was left.
bool ThreadPool::Impl::run_one(Slot& slot) {
  uint64_t word = slot.word.load(std::memory_order_acquire);
  const uint32_t index = uint32_t(word), chunks = slot.chunks.load(std::memory_order_acquire);
  const int64_t n = slot.n.load(std::memory_order_acquire), grain = slot.grain.load(std::memory_order_acquire);
  const RangeFunction* f = slot.f.load(std::memory_order_acquire);
  if (index >= chunks) return false;
  // another thread claimed it first; the caller tries again
  if (!slot.word.compare_exchange_strong(word, word + 1)) return true;
  inside_chunk = true;
  uint32_t ended = 1;
  try {
    const int64_t begin = int64_t(index) * grain;
    (*f)(begin, std::min(begin + grain, n));
  } catch (...) {
    if (!slot.thrown.exchange(true)) slot.exception = std::current_exception();
    // No unclaimed chunk needs to run: claim them all at once.
    uint64_t now = slot.word.load(std::memory_order_relaxed);
    while (uint32_t(now) < chunks && !slot.word.compare_exchange_weak(now, now - uint32_t(now) + chunks)) {
    }
    ended += uint32_t(now) < chunks ? chunks - uint32_t(now) : 0;
  }
  inside_chunk = false;
  if (slot.done.fetch_add(ended) + ended == chunks && slot.sleeping.load()) {
    std::lock_guard lock(slot.mutex);
    slot.finished.notify_one();
  }
  return true;
}

/// Helps any caller that has work. Helpers of high rank do not help while callers occupy their cores, so that
/// callers and helpers together never outnumber the pool's threads.
bool ThreadPool::Impl::help(int rank) {
  bool helped = false;
  for (Slot& slot : slots) {
    while (rank + callers.load(std::memory_order_relaxed) <= int(helpers.size()) + 1 && run_one(slot)) helped = true;
  }
  return helped;
}

void ThreadPool::Impl::helper_loop(int rank) {
  while (!stop.load()) {
    const uint64_t seen = calls.load();
    if (help(rank)) continue;
    if (spin([&] { return calls.load() != seen || stop.load(); })) continue;
    std::unique_lock lock(mutex);
    sleepers.fetch_add(1);
    work.wait(lock, [&] { return calls.load() != seen || stop.load(); });
    sleepers.fetch_sub(1);
  }
}

void ThreadPool::Impl::wake() {
  calls.fetch_add(1);
  if (sleepers.load() == 0 || callers.load() > int(helpers.size())) return;
  std::lock_guard lock(mutex);
  work.notify_all();
}

/// Waits for the chunks that helpers have claimed. Goes to sleep soon, since a helper may need this core.
void ThreadPool::Impl::finish(Slot& slot, uint32_t chunks) {
  const auto ready = [&] { return slot.done.load() == chunks; };
  if (spin(ready)) return;
  std::unique_lock lock(slot.mutex);
  slot.sleeping.store(true);
  slot.finished.wait(lock, ready);
  slot.sleeping.store(false);
}

ThreadPool::ThreadPool(int threads) : impl_(std::make_unique<Impl>()) {
  if (threads < 1 || threads > 1024) fail(Code::kConfig, "ThreadPool: threads is %d, expected 1 to 1024.", threads);
  impl_->helpers.reserve(size_t(threads - 1));
  // Running helpers read helpers.size(): the lock makes them wait until all are in the list.
  std::lock_guard lock(impl_->mutex);
  for (int i = 1; i < threads; ++i) {
    impl_->helpers.emplace_back([impl = impl_.get(), i] {
      { std::lock_guard started(impl->mutex); }
      impl->helper_loop(i);
    });
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(impl_->mutex);
    impl_->stop.store(true);
  }
  impl_->work.notify_all();
  for (std::thread& helper : impl_->helpers) helper.join();
}

ThreadPool::Occupied::Occupied(ThreadPool* pool) : outer_(occupied) {
  Impl* const impl = pool ? pool->impl_.get() : nullptr;
  if (!impl || impl == occupied) return;
  pool_ = pool;
  occupied = impl;
  impl->callers.fetch_add(1);
}

ThreadPool::Occupied::~Occupied() {
  if (!pool_) return;
  pool_->impl_->callers.fetch_sub(1);
  occupied = outer_;
}

int ThreadPool::threads() const { return int(impl_->helpers.size()) + 1; }

void ThreadPool::parallel_for(int64_t n, int64_t grain, RangeFunction f) {
  if (n <= 0) return;
  grain = std::max({grain, int64_t(1), n >> 30});
  const auto chunks = uint32_t((n + grain - 1) / grain);
  Slot* slot = chunks > 1 && !impl_->helpers.empty() && !inside_chunk ? impl_->take_slot() : nullptr;
  if (!slot) {
    for (int64_t begin = 0; begin < n; begin += grain) f(begin, std::min(begin + grain, n));
    return;
  }
  const Occupied busy(this);
  slot->open(n, grain, chunks, f);
  impl_->wake();
  while (impl_->run_one(*slot)) {
  }
  impl_->finish(*slot, chunks);
  std::exception_ptr exception;
  if (slot->thrown.load()) exception = std::move(slot->exception);
  slot->taken.store(false, std::memory_order_release);
  if (exception) std::rethrow_exception(exception);
}

int default_threads() {
  if (const char* text = std::getenv("HONE_THREADS"); text && *text) {
    char* end = nullptr;
    const long n = std::strtol(text, &end, 10);
    if (*end || n < 1 || n > 256) fail(Code::kConfig, "HONE_THREADS is \"%s\"; set it to 1 .. 256, or unset it.", text);
    return int(n);
  }
  int cores = int(std::thread::hardware_concurrency());
#if defined(__linux__)
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) == 0) cores = CPU_COUNT(&usable);
  if (const int quota = cpu_quota(); quota > 0) cores = std::min(cores, quota);
#endif
  return std::clamp(cores, 1, 256);
}

}  // namespace hone
