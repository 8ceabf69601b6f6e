// A thread pool with parallel_for. The calling thread works too, and does not wait for a helper thread that
// gets no core.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace hone {

/// A reference to a callable `void(int64_t begin, int64_t end)`: allocates nothing; valid as long as the
/// callable.
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
/// parallel_for on one pool at the same time; each call waits only for chunks that helper threads have
/// claimed. Chunk boundaries depend on n and grain only, so that results do not depend on which thread runs a
/// chunk. If `f` throws, the caller gets the first exception after all claimed chunks have ended.
class ThreadPool {
 public:
  /// Starts `threads - 1` helper threads; the caller is the remaining one. threads >= 1; with 1 everything
  /// runs inline.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const;
  /// Calls f(begin, end) for each chunk. Called from inside a chunk, it runs inline.
  void parallel_for(int64_t n, int64_t grain, RangeFunction f);

  /// While an object exists, its thread keeps a core busy even between calls of parallel_for (during one
  /// engine or trainer step), and helper threads leave that core alone. A null pool does nothing. May be
  /// nested.
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

/// Value of HONE_THREADS if set (1..256), else the number of cores this process may use at a time.
int default_threads();

}  // namespace hone
