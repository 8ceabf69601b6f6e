#include "trainer/streamed_moments.h"

#include <algorithm>

namespace hone::trainer {

StreamedMoments::StreamedMoments(const Stream& stream) : in_(stream.backend, nullptr), out_(stream.backend, nullptr) {
  for (size_t i = 0; i < kPlaces; ++i) places_.emplace_back(stream);
}

StreamedMoments::~StreamedMoments() {
  try {
    synchronize(in_.stream());
    settle();
  } catch (const Error&) {  // the device has failed, so no copy is in progress
  }
}

int64_t StreamedMoments::device_bytes(int64_t window_bytes) { return int64_t(kPlaces) * 2 * Arena::rounded(window_bytes); }

void StreamedMoments::reserve(const Stream& stream, const std::vector<Window>& windows) {
  if (room_.capacity() > 0) return;
  int64_t bytes = 0;
  for (const Window& window : windows) bytes = std::max(bytes, window.bytes);
  room_ = Arena(device_bytes(bytes), "moments on their way", tensor_memory(stream));
  for (Place& place : places_) {
    place.m = room_.take_array<std::byte>(bytes);
    place.v = room_.take_array<std::byte>(bytes);
  }
}

void StreamedMoments::visit(const Stream& stream, const std::vector<Window>& windows, const Visit& update) {
  reserve(stream, windows);
  for (size_t i = 0; i < windows.size(); ++i) {
    const Window& window = windows[i];
    const Place& place = places_[i % kPlaces];
    // Waits until the slot's previous window was copied back. This window's own copies of the previous call
    // were queued earlier.
    place.emptied.hold(in_.stream());
    copy(in_.stream(), place.m, window.m, window.bytes);
    copy(in_.stream(), place.v, window.v, window.bytes);
    place.filled.record(in_.stream());
    place.filled.hold(stream);
    update(i, place.m, place.v);
    place.updated.record(stream);
    place.updated.hold(out_.stream());
    copy(out_.stream(), window.m, place.m, window.bytes);
    copy(out_.stream(), window.v, place.v, window.bytes);
    place.emptied.record(out_.stream());
  }
}

void StreamedMoments::settle() const { synchronize(out_.stream()); }

}  // namespace hone::trainer
