// One allocation per purpose; views are taken from it and released together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "core/tensor.h"

namespace hone {

/// The kind of memory of a block: ordinary, page-locked (which a device copies to and from directly), or a device's.
enum class Memory : uint8_t { kHost, kPinned, kDevice };

/// A bump allocator over one 64-byte aligned block. Not thread-safe. Memory is not initialised.
class Arena {
 public:
  Arena() = default;
  /// Throws kOutOfMemory, naming `purpose`, if the block cannot be had.
  Arena(int64_t bytes, const char* purpose, Memory memory = Memory::kHost);
  ~Arena();
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;

  /// A 64-byte aligned piece. Throws kOutOfMemory with purpose, wanted and free bytes.
  void* take(int64_t bytes);
  template <class T>
  T* take_array(int64_t n) {
    return static_cast<T*>(take(n > INT64_MAX / int64_t(sizeof(T)) ? INT64_MAX : n * int64_t(sizeof(T))));
  }
  TensorView take_view(DType dtype, std::initializer_list<int64_t> dims);

  /// Makes the whole block read as zeros that take no memory until they are written. Returns false and does nothing if
  /// the system does not support it (a device, a small block, not Linux). For a fresh block: its contents are lost.
  bool discard();
  /// Zeros a piece; whole pages of host memory in it take no memory until they are written.
  void discard(void* from, int64_t bytes);

  /// mark() .. release(mark) frees everything taken in between.
  int64_t mark() const { return used_; }
  void release(int64_t mark) { used_ = mark; }
  int64_t capacity() const { return capacity_; }
  int64_t used() const { return used_; }
  int64_t peak() const { return peak_; }
  Memory memory() const { return memory_; }

  /// Bytes of all arenas of this process in that memory.
  static int64_t live_bytes(Memory memory);

  /// Bytes `take(bytes)` really consumes.
  static int64_t rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }
  /// Bytes that a view of n elements consumes.
  static int64_t view_bytes(DType type, int64_t n) { return rounded(n * dtype_bytes(type)); }

 private:
  std::byte* base_ = nullptr;
  int64_t capacity_ = 0, used_ = 0, peak_ = 0;
  const char* purpose_ = "";
  Memory memory_ = Memory::kHost;
};

}  // namespace hone
