// Gathering and scattering rows on a device has the CPU's bytes, for both element sizes, any stride and any
// choice of rows.
//
// Faults put into the code, each detected: rows that no index names left unchanged (scatter); the search's
// last step left out (scatter); wide copies used for unaligned rows (misaligned load).
#include "kernels/gather.h"

#include <algorithm>
#include <numeric>

#include "device.h"

namespace kernels_cuda_gather_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

template <class T>
void expect_same(DType type, int64_t tokens, int64_t count, int64_t width, int64_t gap) {
  const int64_t stride = width + gap;
  std::vector<T> from(static_cast<size_t>(tokens * stride));
  for (T& x : from) x = T(random_int(1, 60000));
  std::vector<int32_t> rows(static_cast<size_t>(tokens));
  std::iota(rows.begin(), rows.end(), 0);
  std::shuffle(rows.begin(), rows.end(), hone::test::random());
  rows.resize(size_t(count));
  std::sort(rows.begin(), rows.end());

  std::vector<T> to(size_t(count * stride), T(-1)), back(size_t(tokens * width), T(-1));
  const auto view = [&](T* data, int64_t n) { return with_stride({data, type, {n, width}}, stride); };
  gather_rows({}, {view(from.data(), tokens), i32(rows.data(), {count}), view(to.data(), count)});
  scatter_rows({}, {view(to.data(), count), i32(rows.data(), {count}), {back.data(), type, {tokens, width}}});

  const DeviceArray<T> afrom(from), ato(count * stride), aback(tokens * width);
  const DeviceArray<int32_t> arows(rows);
  const TensorView index = arows.view(DType::kI32, {count});
  gather_rows(device_stream(), {view(afrom.data(), tokens), index, view(ato.data(), count)});
  scatter_rows(device_stream(), {view(ato.data(), count), index, aback.view(type, {tokens, width})});
  EXPECT_TRUE(ato.download() == to);
  EXPECT_TRUE(aback.download() == back);
}

}  // namespace

TEST(rows_go_to_their_places_and_back_as_on_the_cpu) {
  NEEDS_DEVICE;
  for (const int64_t tokens : {1, 7, 40}) {
    for (const int64_t count : {int64_t(0), int64_t(1), tokens / 2, tokens}) {
      for (const int64_t width : {1, 8, 43, 64}) {
        expect_same<uint16_t>(DType::kBF16, tokens, count, width, width % 8 ? 3 : 8);
        expect_same<uint32_t>(DType::kF32, tokens, count, width, 4);
      }
    }
  }
}

}  // namespace kernels_cuda_gather_test
