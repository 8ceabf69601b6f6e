// y = a x + b y against f64, also in place, and with y's old value ignored if b is 0.
#include "kernels/axpby.h"

#include "each_isa.h"

namespace kernels_axpby_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

TEST(axpby_matches_f64_on_strided_rows) {
  each_isa([] {
    for (const auto& [rows, width] : {std::pair<int64_t, int64_t>{1, 1}, {3, 16}, {5, 31}, {200, 257}}) {
      const int64_t stride = width + 3;
      const std::vector<float> x = random_floats(rows * stride), before = random_floats(rows * stride);
      for (const Stream& stream : {Stream{}, two_threads()}) {
        std::vector<float> y = before;
        TensorView from = f32(x.data(), {rows, width}), to = f32(y.data(), {rows, width});
        from.row_stride = to.row_stride = stride;
        axpby(stream, {.x = from, .a = 0.3f, .y = to, .b = -1.5f});
        for (int64_t i = 0; i < rows * stride; ++i) {
          const size_t at = size_t(i);
          const double wanted = i % stride < width ? double(0.3f) * double(x[at]) - 1.5 * double(before[at]) : double(before[at]);
          EXPECT_NEAR(y[at], wanted, 3e-7 * (1 + std::fabs(wanted)));
        }
      }
    }
  });
}

TEST(without_b_what_was_there_does_not_matter_and_x_may_be_y) {
  each_isa([] {
    const std::vector<float> x = random_floats(35);
    std::vector<float> y = poison(35), same = x;
    axpby({}, {.x = f32(x.data(), {5, 7}), .a = 2.0f, .y = f32(y.data(), {5, 7})});
    axpby({}, {.x = f32(same.data(), {5, 7}), .a = 2.0f, .y = f32(same.data(), {5, 7})});
    for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y[i], 2.0f * x[i]);
    EXPECT_TRUE(same_bits(y.data(), same.data(), 35));
  });
}

}  // namespace kernels_axpby_test
