// relu(x)^2 compared with f64, its gradient with the formula, strided rows, and aliased buffers.
#include "kernels/squared_relu.h"

#include "each_isa.h"

namespace kernels_squared_relu_test {
namespace {

using namespace hone;
using namespace hone::test;

/// A view of `width` columns of rows that are `stride` apart.
TensorView strided(std::vector<float>& values, int64_t rows, int64_t width, int64_t stride) {
  TensorView view = f32(values.data(), {rows, width});
  view.row_stride = stride;
  return view;
}

}  // namespace

TEST(outputs_and_gradients_are_those_of_the_formula) {
  for (const Stream& stream : {Stream{}, two_threads()}) {
    for (const auto& [rows, width] : {std::pair<int64_t, int64_t>{0, 4}, {1, 1}, {37, 53}, {700, 129}}) {
      const int64_t stride = width + 3;
      std::vector<float> x = random_floats(rows * stride + 1, 2.0f), dy = random_floats(rows * width + 1), y = poison(rows * width + 1), again = y;
      if (rows > 0) x[0] = 0.0f;
      kernels::squared_relu(stream, {.x = strided(x, rows, width, stride), .y = f32(y.data(), {rows, width})});
      std::vector<float> dx = x;
      kernels::squared_relu_grad(stream, {.x = strided(dx, rows, width, stride), .dy = f32(dy.data(), {rows, width}), .dx = strided(dx, rows, width, stride), .y = f32(again.data(), {rows, width})});
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t i = 0; i < width; ++i) {
          const double at = std::max(0.0, double(x[size_t(r * stride + i)])), d = double(dy[size_t(r * width + i)]);
          EXPECT_NEAR(y[size_t(r * width + i)], at * at, 1e-6 * (1 + at * at));
          EXPECT_NEAR(dx[size_t(r * stride + i)], 2 * at * d, 1e-6 * (1 + std::fabs(2 * at * d)));
        }
      }
      EXPECT_TRUE(same_bits(y.data(), again.data(), rows * width));
    }
  }
}

TEST(other_shapes_are_refused) {
  std::vector<float> x = random_floats(12), y = x;
  EXPECT_THROWS(kernels::squared_relu({}, {.x = f32(x.data(), {3, 4}), .y = f32(y.data(), {4, 3})}), Code::kShape);
  EXPECT_THROWS(kernels::squared_relu_grad({}, {.x = f32(x.data(), {3, 4}), .dy = f32(y.data(), {3, 3}), .dx = f32(x.data(), {3, 4})}), Code::kShape);
}

}  // namespace kernels_squared_relu_test
