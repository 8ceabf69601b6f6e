// Casts between f32 and bf16 against rounding by definition, for strided rows.
//
// Faults put into the code, each detected: the source's stride used for the target; rounding towards zero.
#include "kernels/cast.h"

#include "check.h"

namespace kernels_cast_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

TEST(f32_rounds_to_the_nearest_even_bf16_and_comes_back_exactly) {
  const float cases[][2] = {{1.0f, 1.0f},
                            {1.0f + 0x1p-8f, 1.0f},
                            {1.0f + 0x1p-8f + 0x1p-20f, 1.0f + 0x1p-7f},
                            {1.0f + 3 * 0x1p-8f, 1.0f + 0x1p-6f},
                            {-0.0f, -0.0f},
                            {3.4e38f, HUGE_VALF},
                            {-HUGE_VALF, -HUGE_VALF}};
  const int64_t rows = 7, width = 3, in = 5, out = 4;
  std::vector<float> from = poison(rows * in), back = poison(rows * in);
  std::vector<uint16_t> to(size_t(rows * out), 0x1234);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < width; ++c) from[size_t(r * in + c)] = cases[(r + c) % 7][0];
  }
  TensorView source = f32(from.data(), {rows, width}), target = f32(back.data(), {rows, width});
  TensorView middle(to.data(), DType::kBF16, {rows, width});
  source.row_stride = target.row_stride = in;
  middle.row_stride = out;
  cast({}, {source, middle});
  cast({}, {middle, target});
  for (int64_t r = 0; r < rows; ++r) {
    EXPECT_EQ(to[size_t(r * out + width)], 0x1234);
    EXPECT_TRUE(std::isnan(back[size_t(r * in + width)]));
    for (int64_t c = 0; c < width; ++c) EXPECT_TRUE(same_bits(&back[size_t(r * in + c)], &cases[(r + c) % 7][1], 1));
  }
}

TEST(other_types_and_shapes_are_refused) {
  std::vector<float> x(8);
  const TensorView two = f32(x.data(), {2, 4}), four = f32(x.data(), {4, 2});
  EXPECT_THROWS(cast({}, {two, four}), Code::kShape);
  EXPECT_THROWS(cast({}, {two, {x.data(), DType::kF16, {2, 4}}}), Code::kShape);
}

}  // namespace kernels_cast_test
