// axpby on a device, compared with the CPU's result rounded to bf16.
#include "kernels/axpby.h"

#include "device.h"

namespace kernels_cuda_axpby_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

TEST(axpby_matches_the_cpu) {
  NEEDS_DEVICE;
  for (const auto& [rows, width] : {std::pair<int64_t, int64_t>{1, 8}, {3, 5}, {70, 64}, {2, 520}}) {
    const std::vector<float> x = rounded_to_bf16(random_floats(rows * width)), y = rounded_to_bf16(random_floats(rows * width));
    for (const float b : {0.0f, 1.0f}) {
      std::vector<float> wanted = y;
      axpby({}, {.x = f32(x.data(), {rows, width}), .a = 0.22f, .y = f32(wanted.data(), {rows, width}), .b = b});
      const DeviceArray<uint16_t> dx(to_bf16(x)), dy(to_bf16(y));
      axpby(device_stream(), {.x = dx.view(DType::kBF16, {rows, width}), .a = 0.22f, .y = dy.view(DType::kBF16, {rows, width}), .b = b});
      expect_rounded(dy.download(), wanted, 1e-6, "y");
    }
  }
}

}  // namespace kernels_cuda_axpby_test
