// Devices, streams, copies between host and device memory, events and graphs, with one interface for CPU and
// GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/arena.h"
#include "core/stream.h"

namespace hone {

/// Priority of a stream's work where streams compete for a GPU: kUrgent for many small steps, kBatch for few
/// long steps that can wait.
enum class Priority : uint8_t { kBatch, kUrgent };

/// Owns the resources that a Stream refers to. A GPU device is the first one that the process sees
/// (CUDA_VISIBLE_DEVICES chooses).
class Device {
 public:
  /// `pool` runs CPU ops. Throws kCuda, naming the reason and the next command, if a GPU is asked for and the
  /// process cannot use one.
  Device(Stream::Backend backend, ThreadPool* pool, Priority priority = Priority::kBatch);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  const Stream& stream() const { return stream_; }

 private:
  Stream stream_;
};

/// Waits until all work given to the stream is done. CPU ops are done when they return.
void synchronize(const Stream& stream);

/// Marks a point in a stream's work for which another stream, but not the host, waits. On the CPU an op has
/// finished when its call returns, so that waiting does nothing. Movable.
class Event {
 public:
  /// An event for streams of the same device as `stream`. Throws kCuda.
  explicit Event(const Stream& stream);
  ~Event();
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;
  /// Records all work that the stream has been given so far.
  void record(const Stream& stream) const;
  /// Makes later work of the stream wait for the recorded work; does nothing if none was recorded.
  void hold(const Stream& stream) const;

 private:
  void* handle_ = nullptr;
};

/// Copies from host memory to the stream's memory. `from` may be reused immediately, unless it is
/// page-locked.
void upload(const Stream& stream, void* to, const void* from, int64_t bytes);
/// Copies from the stream's memory to host memory; returns when the data is there.
void download(const Stream& stream, void* to, const void* from, int64_t bytes);
/// Copies within the stream's memory. The two ranges must not overlap.
void copy(const Stream& stream, void* to, const void* from, int64_t bytes);
/// Copies all rows of `from` to `to`. Both have the same dtype and shape; either may have strided rows.
void copy_rows(const Stream& stream, const TensorView& from, const TensorView& to);
void zero(const Stream& stream, void* to, int64_t bytes);

template <class T>
constexpr DType dtype_of() {
  if (std::is_same_v<T, float>) return DType::kF32;
  if (std::is_same_v<T, double>) return DType::kF64;
  return std::is_same_v<T, int32_t> ? DType::kI32 : DType::kU8;
}

/// Arrays that the host writes and kernels read, or vice versa. Host and device memory lay them out
/// identically, so that one copy transfers all of them. On the CPU host and device pointers are equal and
/// nothing is copied.
class SharedArrays {
 public:
  template <class T>
  struct Array {
    T* host = nullptr;
    T* device = nullptr;  // argument for kernels
    int64_t size = 0;
    TensorView view() const { return {device, dtype_of<T>(), {size}}; }
  };
  SharedArrays() = default;
  /// Allocates `bytes` on the host and on the device. Throws kOutOfMemory.
  SharedArrays(const Stream& stream, int64_t bytes, const char* purpose);
  template <class T>
  Array<T> take(int64_t n) {
    std::byte* const host = static_cast<std::byte*>(host_.take(n * int64_t(sizeof(T))));
    return {reinterpret_cast<T*>(host), reinterpret_cast<T*>(device_base() + (host - host_base_)), n};
  }
  void clear() { host_.release(0); }
  int64_t used() const { return host_.used(); }
  /// Copies bytes [begin, end) of the arrays from host to device (upload) or back (download); offsets are
  /// those of used().
  void upload(const Stream& stream, int64_t begin, int64_t end) const;
  void download(const Stream& stream, int64_t begin, int64_t end) const;

 private:
  std::byte* device_base() const { return device_base_ ? device_base_ : host_base_; }
  Arena host_, device_;
  std::byte *host_base_ = nullptr, *device_base_ = nullptr;
};

/// Work that is recorded once and then repeated by one launch, with the same kernels and addresses. Movable.
class Graph {
 public:
  Graph() = default;
  ~Graph();
  Graph(Graph&& other) noexcept;
  Graph& operator=(Graph&& other) noexcept;
  /// Records the work that `work` puts on the stream, without running it, and replaces any earlier recording.
  /// Returns false on the CPU, without calling `work`. Throws the errors of `work`, and kCuda for work that
  /// cannot be recorded.
  template <class Work>
  bool record(const Stream& stream, const Work& work) {
    if (!begin(stream)) return false;
    try {
      work();
    } catch (...) {
      abandon(stream);
      throw;
    }
    end(stream);
    return true;
  }
  bool recorded() const { return handle_ != nullptr; }
  void launch(const Stream& stream) const;

 private:
  bool begin(const Stream& stream);
  void end(const Stream& stream);
  void abandon(const Stream& stream) noexcept;
  void* handle_ = nullptr;
};

}  // namespace hone
