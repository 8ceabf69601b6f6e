// Casts on a device have the CPU's bits: special values, ties, tails and strides.
//
// Faults put into the code, each detected: truncation instead of rounding (bits); a whole vector written at a
// tail (AddressSanitizer); unaligned rows read by vectors (UBSan).
#include "kernels/cast.h"

#include "device.h"

namespace kernels_cuda_cast_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

TEST(both_directions_are_the_cpus_bits) {
  NEEDS_DEVICE;
  for (const int64_t width : {1, 7, 8, 40, 333}) {
    const int64_t rows = 5, in = width + 8, out = width + (width % 8 ? 3 : 16);
    std::vector<float> from = random_floats(rows * in);
    from[0] = -0.0f;
    from[size_t(in)] = HUGE_VALF;
    from[size_t(2 * in)] = 1.0f + 0x1p-8f;        // a tie, rounded to even: down
    from[size_t(3 * in)] = 1.0f + 3 * 0x1p-8f;    // a tie, rounded to even: up
    from[size_t(4 * in)] = 3.4e38f;               // rounds to infinity
    const DeviceArray<float> wide(from), again(rows * in);
    const DeviceArray<uint16_t> narrow(rows * out);
    const TensorView source = with_stride(wide.view(DType::kF32, {rows, width}), in);
    const TensorView middle = with_stride(narrow.view(DType::kBF16, {rows, width}), out);
    const TensorView target = with_stride(again.view(DType::kF32, {rows, width}), in);
    cast(device_stream(), {source, middle});
    cast(device_stream(), {middle, target});
    const std::vector<uint16_t> bits = narrow.download();
    const std::vector<float> back = again.download();
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < out; ++c) {
        EXPECT_EQ(bits[size_t(r * out + c)], c < width ? f32_to_bf16(from[size_t(r * in + c)]) : uint16_t(0xffff));
      }
      for (int64_t c = 0; c < in; ++c) {
        const float value = back[size_t(r * in + c)];
        if (c < width) EXPECT_EQ(value, bf16_to_f32(f32_to_bf16(from[size_t(r * in + c)])));
        else EXPECT_TRUE(std::isnan(value));
      }
    }
  }
}

}  // namespace kernels_cuda_cast_test
