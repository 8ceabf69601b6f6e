// Optimizer moments in host memory that an update streams through the device, one window at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/arena.h"
#include "core/device.h"
#include "core/stream.h"

namespace hone::trainer {

/// Copies windows of moments to the device and back while other windows are updated: one copy stream per
/// direction, and three slots on the device, so that both copies and the update overlap.
class StreamedMoments {
 public:
  /// A window of moments m and v: the same number of bytes of each, in page-locked memory.
  struct Window {
    std::byte *m, *v;
    int64_t bytes;
  };
  /// Updates window i on the stream that was passed to visit(). m, v: its moments on the device, updated in
  /// place.
  using Visit = std::function<void(size_t i, std::byte* m, std::byte* v)>;

  /// stream: the one on which updates run. Throws kCuda.
  explicit StreamedMoments(const Stream& stream);
  /// Waits for all copies.
  ~StreamedMoments();
  StreamedMoments(const StreamedMoments&) = delete;
  StreamedMoments& operator=(const StreamedMoments&) = delete;

  /// Bytes on the device for windows of at most window_bytes per moment; the first visit() allocates them.
  static int64_t device_bytes(int64_t window_bytes);

  /// Calls `update` for every window in order, without waiting for the device: when it returns, the last
  /// windows are still being copied back. Windows must not overlap, and must be the same in every call.
  /// Throws kOutOfMemory.
  void visit(const Stream& stream, const std::vector<Window>& windows, const Visit& update);
  /// Waits until all updated moments are in host memory.
  void settle() const;

 private:
  static constexpr size_t kPlaces = 3;  // one is being filled, one updated, one copied back
  struct Place {
    explicit Place(const Stream& stream) : filled(stream), updated(stream), emptied(stream) {}
    std::byte *m = nullptr, *v = nullptr;
    Event filled, updated, emptied;
  };
  void reserve(const Stream& stream, const std::vector<Window>& windows);

  Device in_, out_;  // each has the copy stream of one direction
  Arena room_;
  std::vector<Place> places_;
};

}  // namespace hone::trainer
