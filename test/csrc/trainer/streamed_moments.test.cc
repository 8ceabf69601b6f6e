// StreamedMoments: windows of host memory that are changed on the device, compared with the same change on
// the host.
#include "trainer/streamed_moments.h"

#include <cstring>
#include <vector>

#include "device.h"

namespace trainer_streamed_moments_test {

using namespace hone;
using namespace hone::test;
using trainer::StreamedMoments;

TEST(every_window_is_changed_once_a_visit_and_comes_home) {
  NEEDS_DEVICE;
  constexpr int64_t kBytes = 256;
  for (const int64_t count : {1, 2, 3, 4, 11}) {
    const Device device(Stream::Backend::kCuda, nullptr);
    Arena host(2 * count * kBytes, "test", Memory::kPinned);
    std::byte *const m = host.take_array<std::byte>(count * kBytes), *const v = host.take_array<std::byte>(count * kBytes);
    std::vector<std::byte> a(size_t(count * kBytes)), b(a.size());
    for (size_t i = 0; i < a.size(); ++i) m[i] = a[i] = std::byte(i * 7), v[i] = b[i] = std::byte(i * 11 + 1);
    std::vector<StreamedMoments::Window> windows;
    for (int64_t i = 0; i < count; ++i) windows.push_back({m + i * kBytes, v + i * kBytes, i == 0 ? kBytes / 2 : kBytes});
    const Deferred streams;
    StreamedMoments moments(device.stream());
    const int64_t before = Arena::live_bytes(Memory::kDevice);
    for (int visit = 0; visit < 3; ++visit) {
      size_t seen = 0;
      moments.visit(device.stream(), windows, [&](size_t i, std::byte* at_m, std::byte* at_v) {
        EXPECT_EQ(i, seen++);
        // m becomes the first half of v; the second quarter of v becomes 0
        copy(device.stream(), at_m, at_v, kBytes / 2);
        zero(device.stream(), at_v + kBytes / 4, kBytes / 4);
      });
      EXPECT_EQ(seen, windows.size());
      for (int64_t i = 0; i < count; ++i) {
        std::memcpy(a.data() + i * kBytes, b.data() + i * kBytes, kBytes / 2);
        std::memset(b.data() + i * kBytes + kBytes / 4, 0, kBytes / 4);
      }
    }
    const int64_t widest = count == 1 ? kBytes / 2 : kBytes;
    EXPECT_EQ(Arena::live_bytes(Memory::kDevice) - before, StreamedMoments::device_bytes(widest));
    moments.settle();
    EXPECT_TRUE(std::memcmp(m, a.data(), a.size()) == 0 && std::memcmp(v, b.data(), b.size()) == 0);
  }
}

}  // namespace trainer_streamed_moments_test
