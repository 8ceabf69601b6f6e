// Ordered sums of parts have the CPU's bits; sums of squares per block agree up to the order of f64 sums.
#include "kernels/parts.h"

#include "device.h"

namespace kernels_cuda_parts_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

TEST(parts_are_added_with_the_bits_of_the_cpu) {
  NEEDS_DEVICE;
  for (const int64_t n : {1, 8, 4099}) {
    for (const int64_t count : {1, 3}) {
      for (const int64_t gap : {0, 4, 5}) {  // rows are aligned to vectors, or not
        const int64_t stride = n + gap;
        const std::vector<float> parts = random_floats(count * stride), before = random_floats(n);
        std::vector<float> wanted = before;
        add_parts({}, {.parts = with_stride(f32(parts.data(), {count, n}), stride), .sum = f32(wanted.data(), {n})});
        const DeviceArray<float> there(parts), sum(before);
        add_parts(device_stream(), {.parts = with_stride(there.view(DType::kF32, {count, n}), stride), .sum = sum.view(DType::kF32, {n})});
        EXPECT_TRUE(same_bits(sum.download().data(), wanted.data(), n));
      }
    }
  }
}

TEST(squares_of_blocks_are_the_cpus_and_depend_on_the_block_alone) {
  NEEDS_DEVICE;
  const int64_t n = 2 * kSquaresBlock + 21;
  const std::vector<float> x = random_floats(n), from = random_floats(n);
  const DeviceArray<float> dx(x), dfrom(from);
  for (const bool differs : {false, true}) {
    std::vector<double> wanted(3);
    block_squares({}, {.x = f32(x.data(), {n}), .from = differs ? f32(from.data(), {n}) : TensorView{}, .squares = {wanted.data(), DType::kF64, {3}}});
    const TensorView other = differs ? dfrom.view(DType::kF32, {n}) : TensorView{};
    const DeviceArray<double> squares(3), last(1);
    block_squares(device_stream(), {.x = dx.view(DType::kF32, {n}), .from = other, .squares = squares.view(DType::kF64, {3})});
    const std::vector<double> got = squares.download();
    for (size_t b = 0; b < 3; ++b) EXPECT_NEAR(got[b], wanted[b], 1e-13 * wanted[b]);
    // The last block alone, as on a rank that owns no other block.
    const auto tail = [&](TensorView view) { return TensorView(view.as<float>() + 2 * kSquaresBlock, DType::kF32, {21}); };
    block_squares(device_stream(), {.x = tail(dx.view(DType::kF32, {n})), .from = differs ? tail(other) : TensorView{},
                                    .squares = last.view(DType::kF64, {1})});
    EXPECT_EQ(last.download()[0], got[2]);
  }
}

TEST(a_value_that_is_not_finite_shows) {
  NEEDS_DEVICE;
  const DeviceArray<float> x(std::vector<float>{1.0f, std::numeric_limits<float>::quiet_NaN()});
  const DeviceArray<double> squares(1);
  block_squares(device_stream(), {.x = x.view(DType::kF32, {2}), .squares = squares.view(DType::kF64, {1})});
  EXPECT_TRUE(std::isnan(squares.download()[0]));
}

}  // namespace kernels_cuda_parts_test
