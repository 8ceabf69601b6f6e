// A bump allocator: each arena is one memory block for one purpose; tensors take pieces of it and release
// them together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "core/tensor.h"

namespace hone {

/// Where an arena's block lies: ordinary host memory, page-locked host memory (which a GPU copies to and from
/// directly), or GPU memory.
enum class Memory : uint8_t { kHost, kPinned, kDevice };

/// A bump allocator over one 64-byte aligned block. Not thread-safe. Memory is not initialised.
class Arena {
 public:
  Arena() = default;
  /// Allocates the block. Throws kOutOfMemory, naming `purpose`, if the system has too little memory.
  Arena(int64_t bytes, const char* purpose, Memory memory = Memory::kHost);
  ~Arena();
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;

  /// Takes a 64-byte aligned piece of the block. Throws kOutOfMemory with the arena's purpose, the bytes
  /// asked for and the bytes free.
  void* take(int64_t bytes);
  template <class T>
  T* take_array(int64_t n) {
    return static_cast<T*>(take(n > INT64_MAX / int64_t(sizeof(T)) ? INT64_MAX : n * int64_t(sizeof(T))));
  }
  TensorView take_view(DType dtype, std::initializer_list<int64_t> dims);

  /// Makes the whole block read as zeros whose pages take no physical memory until they are written. Returns
  /// false and does nothing if the system does not support it (GPU memory, a small block, not Linux). What
  /// the block contained is lost.
  bool discard();
  /// Zeros a piece of the block; whole pages of host memory in the piece take no physical memory until they
  /// are written.
  void discard(void* from, int64_t bytes);

  /// release(m), with m = mark() from earlier, frees everything taken since that call of mark().
  int64_t mark() const { return used_; }
  void release(int64_t mark) { used_ = mark; }
  int64_t capacity() const { return capacity_; }
  int64_t used() const { return used_; }
  int64_t peak() const { return peak_; }
  Memory memory() const { return memory_; }

  /// Bytes of all arenas in this process that lie in `memory`.
  static int64_t live_bytes(Memory memory);

  /// Bytes of the block that `take(bytes)` consumes: `bytes` rounded up to a multiple of 64.
  static int64_t rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }
  /// Bytes of the block that a tensor of n elements consumes.
  static int64_t view_bytes(DType type, int64_t n) { return rounded(n * dtype_bytes(type)); }

 private:
  std::byte* base_ = nullptr;
  int64_t capacity_ = 0, used_ = 0, peak_ = 0;
  const char* purpose_ = "";
  Memory memory_ = Memory::kHost;
};

}  // namespace hone
