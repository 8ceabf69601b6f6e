// Rounding to bf16 in place, compared with the bit arithmetic of core/tensor.h, on every instruction set.
//
// Faults put into the code: truncation, ties away from zero, the last element of a row left out (each
// detected).
#include "kernels/rounding.h"

#include <cmath>
#include <limits>

#include "each_isa.h"

namespace kernels_rounding_test {

using namespace hone;
using namespace hone::test;

TEST(every_row_becomes_the_nearest_bf16_and_gaps_stay) {
  each_isa([] {
    for (int64_t width : {1, 15, 16, 17, 70}) {
      const int64_t rows = 9, stride = width + 3;
      std::vector<float> x = random_floats(rows * stride), want = x;
      TensorView view = f32(x.data(), {rows, width});
      view.row_stride = stride;
      for (int64_t i = 0; i < rows * stride; ++i) {
        if (i % stride < width) want[size_t(i)] = bf16_to_f32(f32_to_bf16(want[size_t(i)]));
      }
      kernels::round_to_bf16(width == 70 ? two_threads() : Stream{}, view);
      EXPECT_TRUE(same_bits(x.data(), want.data(), rows * stride));
    }
  });
}

TEST(ties_go_to_even_and_special_values_stay_what_they_are) {
  each_isa([] {
    const float infinity = std::numeric_limits<float>::infinity(), ulp = std::ldexp(1.0f, -7);
    std::vector<float> x = {1 + ulp / 2, 1 + 3 * ulp / 2, 1 + ulp * 0.51f, infinity, -infinity, std::nanf(""), -0.0f, 1e-40f};
    const std::vector<float> want = {1, 1 + 2 * ulp, 1 + ulp, infinity, -infinity, 0, -0.0f, bf16_to_f32(f32_to_bf16(1e-40f))};
    kernels::round_to_bf16({}, f32(x.data(), {1, 8}));
    for (size_t i = 0; i < x.size(); ++i) {
      if (i == 5) EXPECT_TRUE(std::isnan(x[i]));
      else EXPECT_TRUE(same_bits(&x[i], &want[i], 1));
    }
  });
}

TEST(what_is_not_rows_of_f32_is_refused) {
  uint16_t half[4] = {};
  float x[4] = {};
  EXPECT_THROWS(kernels::round_to_bf16({}, {half, DType::kBF16, {2, 2}}), Code::kShape);
  EXPECT_THROWS(kernels::round_to_bf16({}, f32(x, {4})), Code::kShape);
  kernels::round_to_bf16({}, f32(x, {0, 4}));
}

}  // namespace kernels_rounding_test
