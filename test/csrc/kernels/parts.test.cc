// Ordered sums of parts, and sums of squares per block, compared with f64.
#include "kernels/parts.h"

#include "each_isa.h"

namespace kernels_parts_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

TEST(parts_are_added_in_their_order_whatever_the_threads) {
  for (const int64_t n : {1, 31, 40000}) {
    for (const int64_t count : {0, 1, 3}) {
      const int64_t stride = n + 5;
      const std::vector<float> parts = random_floats(count * stride + 1), before = random_floats(n);
      TensorView view = f32(parts.data(), {count, n});
      view.row_stride = stride;
      std::vector<float> wanted = before;
      for (int64_t p = 0; p < count; ++p) {
        for (int64_t i = 0; i < n; ++i) wanted[size_t(i)] += parts[size_t(p * stride + i)];
      }
      for (const Stream& stream : {Stream{}, two_threads()}) {
        std::vector<float> sum = before;
        add_parts(stream, {.parts = view, .sum = f32(sum.data(), {n})});
        EXPECT_TRUE(same_bits(sum.data(), wanted.data(), n));
      }
    }
  }
}

TEST(squares_of_blocks_are_those_of_differences_and_of_nothing_else) {
  each_isa([] {
    for (const int64_t n : {int64_t(1), kSquaresBlock, 9 * kSquaresBlock + 17}) {
      const std::vector<float> x = random_floats(n), from = random_floats(n);
      const int64_t blocks = (n + kSquaresBlock - 1) / kSquaresBlock;
      for (const bool differs : {false, true}) {
        std::vector<double> alone(size_t(blocks), std::nan("")), shared = alone;
        const TensorView other = differs ? f32(from.data(), {n}) : TensorView{};
        block_squares({}, {.x = f32(x.data(), {n}), .from = other, .squares = {alone.data(), DType::kF64, {blocks}}});
        block_squares(two_threads(), {.x = f32(x.data(), {n}), .from = other, .squares = {shared.data(), DType::kF64, {blocks}}});
        EXPECT_TRUE(alone == shared);
        for (int64_t b = 0; b < blocks; ++b) {
          double wanted = 0;
          for (int64_t i = b * kSquaresBlock; i < std::min(n, (b + 1) * kSquaresBlock); ++i) {
            const float value = differs ? x[size_t(i)] - from[size_t(i)] : x[size_t(i)];
            wanted += double(value) * double(value);
          }
          EXPECT_NEAR(alone[size_t(b)], wanted, 1e-13 * wanted);  // only the order of f64 sums differs
        }
      }
    }
  });
}

TEST(a_value_that_is_not_finite_shows_in_its_own_block) {
  std::vector<float> x(size_t(3 * kSquaresBlock), 1.0f);
  x[size_t(kSquaresBlock)] = INFINITY;
  std::vector<double> squares(3);
  block_squares({}, {.x = f32(x.data(), {int64_t(x.size())}), .squares = {squares.data(), DType::kF64, {3}}});
  EXPECT_TRUE(squares[0] == double(kSquaresBlock) && std::isinf(squares[1]) && squares[2] == double(kSquaresBlock));
}

TEST(what_does_not_fit_is_refused) {
  std::vector<float> x(8);
  std::vector<double> squares(2);
  EXPECT_THROWS(add_parts({}, {.parts = f32(x.data(), {2, 4}), .sum = f32(x.data(), {3})}), Code::kShape);
  EXPECT_THROWS(block_squares({}, {.x = f32(x.data(), {8}), .squares = {squares.data(), DType::kF64, {2}}}), Code::kShape);
  EXPECT_THROWS(block_squares({}, {.x = f32(x.data(), {8}), .from = f32(x.data(), {7}), .squares = {squares.data(), DType::kF64, {1}}}),
                Code::kShape);
}

}  // namespace kernels_parts_test
