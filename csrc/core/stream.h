// Where an op runs: the CPU with a thread pool, or a CUDA stream.
#pragma once

#include <cstdint>

#include "core/arena.h"
#include "core/thread_pool.h"

namespace hone {

#ifdef HONE_HAVE_CUDA
inline constexpr bool kHasCuda = true;
#else
inline constexpr bool kHasCuda = false;
#endif

/// Every op takes a Stream by reference. A null `pool` means that CPU ops run in the calling thread only.
struct Stream {
  enum class Backend : uint8_t { kCpu, kCuda } backend = Backend::kCpu;
  ThreadPool* pool = nullptr;
  void* handle = nullptr;  // cudaStream_t when backend is kCuda

  bool is_cuda() const { return backend == Backend::kCuda; }
  int threads() const { return pool ? pool->threads() : 1; }
  /// Calls f on chunks of [0, n) in the pool's threads, or inline if there is no pool or only one chunk.
  void parallel_for(int64_t n, int64_t grain, RangeFunction f) const {
    if (n <= 0) return;
    if (!pool || n <= grain) return f(0, n);
    pool->parallel_for(n, grain, f);
  }
};

/// Element type of activations, their gradients, keys and values: f32 on the CPU, bf16 on a GPU.
inline DType activation_dtype(const Stream& stream) { return stream.is_cuda() ? DType::kBF16 : DType::kF32; }
/// Where the tensors of a stream's ops lie: host or GPU memory.
inline Memory tensor_memory(const Stream& stream) { return stream.is_cuda() ? Memory::kDevice : Memory::kHost; }

}  // namespace hone
