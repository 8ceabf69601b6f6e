// A parallel_for whose threads claim chunks. The caller works too and waits for no helper that lacks a core.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace hone {

/// A borrowed callable `void(int64_t begin, int64_t end)`: no allocation, lives as long as the call.
class RangeFunction {
 public:
  template <class F, class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, RangeFunction>>>
  RangeFunction(F&& f)  // NOLINT: implicit on purpose
      : object_(const_cast<void*>(static_cast<const void*>(&f))),
        call_([](void* o, int64_t b, int64_t e) { (*static_cast<std::remove_reference_t<F>*>(o))(b, e); }) {}
  void operator()(int64_t begin, int64_t end) const { call_(object_, begin, end); }

 private:
  void* object_;
  void (*call_)(void*, int64_t, int64_t);
};

/// Splits [0, n) into chunks of `grain` that threads claim from an atomic counter. Several threads may call
/// parallel_for on one pool at the same time; each call waits only for chunks that helpers have claimed.
/// Chunk boundaries depend on n and grain only, so that results do not depend on the thread that runs a
/// chunk. If `f` throws, the first exception reaches the caller after all claimed chunks have ended.
class ThreadPool {
 public:
  /// threads >= 1 counts the caller: `threads - 1` helpers are started. 1 = run everything inline.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const;
  /// A call from inside a chunk runs inline.
  void parallel_for(int64_t n, int64_t grain, RangeFunction f);

  /// During its lifetime this thread keeps a core busy even between calls (one engine step, one trainer step), so
  /// helpers leave that core alone. Null pool: does nothing. May be nested.
  class Occupied {
   public:
    explicit Occupied(ThreadPool* pool);
    ~Occupied();
    Occupied(const Occupied&) = delete;
    Occupied& operator=(const Occupied&) = delete;

   private:
    ThreadPool* pool_ = nullptr;
    const void* outer_;
  };

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// HONE_THREADS if set (1..256), else the number of cores this process may use at a time.
int default_threads();

}  // namespace hone
