// Rows by index, against their definition, for both widths of element, strided rows, and no rows at all.
// Faults put into the code, each detected: rows beyond the last one not zeroed; the source's stride ignored;
// elements taken as 4 bytes wide.
#include "kernels/gather.h"

#include <algorithm>
#include <numeric>

#include "check.h"

namespace kernels_gather_test {

using namespace hone;
using namespace hone::test;

namespace {

/// R of the T rows, in ascending order.
std::vector<int32_t> some_rows(int64_t T, int64_t R) {
  std::vector<int32_t> all(static_cast<size_t>(T));
  std::iota(all.begin(), all.end(), 0);
  std::shuffle(all.begin(), all.end(), hone::test::random());
  all.resize(size_t(R));
  std::sort(all.begin(), all.end());
  return all;
}

template <class T>
TensorView matrix(std::vector<T>& values, DType type, int64_t rows, int64_t columns, int64_t stride) {
  TensorView view(values.data(), type, {rows, columns});
  view.row_stride = stride;
  return view;
}

/// Gathers rows, then scatters them back; `T` is an integer with the size of an element of `type`.
template <class T>
void round_trip(DType type, int64_t tokens, int64_t count, int64_t columns) {
  const int64_t from_stride = columns + 3, to_stride = columns + 1;
  std::vector<T> from(size_t(tokens * from_stride)), to(size_t(count * to_stride + 1), T(0x7777)), back(size_t(tokens * columns), T(0x5555));
  for (T& x : from) x = T(random_int(1, 60000));
  const std::vector<int32_t> rows = some_rows(tokens, count);
  const TensorView index = i32(rows.data(), {count});
  const TensorView gathered = matrix(to, type, count, columns, to_stride);
  kernels::gather_rows(Stream{}, {.from = matrix(from, type, tokens, columns, from_stride), .rows = index, .to = gathered});
  kernels::scatter_rows(Stream{}, {.from = gathered, .rows = index, .to = {back.data(), type, {tokens, columns}}});
  std::vector<T> wanted(size_t(count * to_stride + 1), T(0x7777)), wanted_back(size_t(tokens * columns), T(0));
  for (int64_t r = 0; r < count; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      const T value = from[size_t(rows[size_t(r)] * from_stride + c)];
      wanted[size_t(r * to_stride + c)] = value;
      wanted_back[size_t(rows[size_t(r)] * columns + c)] = value;
    }
  }
  EXPECT_TRUE(to == wanted);
  EXPECT_TRUE(back == wanted_back);
}

}  // namespace

TEST(rows_go_to_their_places_and_back) {
  for (const int64_t tokens : {1, 2, 7, 40}) {
    for (const int64_t count : {int64_t(0), int64_t(1), tokens / 2, tokens}) {
      for (const int64_t columns : {1, 5, 64}) {
        round_trip<uint32_t>(DType::kF32, tokens, count, columns);
        round_trip<uint16_t>(DType::kBF16, tokens, count, columns);
      }
    }
  }
}

TEST(another_dtype_or_shape_is_refused) {
  std::vector<float> a(12), b(12);
  const std::vector<int32_t> rows{0, 1};
  const TensorView index = i32(rows.data(), {2}), from = f32(a.data(), {4, 3});
  EXPECT_THROWS(kernels::gather_rows(Stream{}, {from, index, f32(b.data(), {2, 4})}), Code::kShape);
  EXPECT_THROWS(kernels::gather_rows(Stream{}, {from, index, {b.data(), DType::kBF16, {2, 3}}}), Code::kShape);
  const TensorView wide(a.data(), DType::kF64, {2, 3}), wide_to(b.data(), DType::kF64, {2, 3});
  EXPECT_THROWS(kernels::gather_rows(Stream{}, {wide, index, wide_to}), Code::kShape);
  TensorView strided = f32(b.data(), {3, 3});
  strided.row_stride = 4;
  EXPECT_THROWS(kernels::scatter_rows(Stream{}, {f32(a.data(), {2, 3}), index, strided}), Code::kShape);
}

}  // namespace kernels_gather_test
