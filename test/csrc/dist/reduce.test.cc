// Compares sums and maxima with plain loops, for every dtype, over several blocks and in place.
#include "dist/reduce.h"

#include "check.h"

namespace dist_reduce_test {

using namespace hone;
using namespace hone::dist;
using namespace hone::test;

namespace {

constexpr int64_t kLength = 2500;

template <class T>
std::vector<std::vector<T>> drawn(int parts) {
  std::vector<std::vector<T>> all;
  for (int p = 0; p < parts; ++p) {
    std::vector<T> values;
    for (int64_t i = 0; i < kLength; ++i) values.push_back(T(random_int(0, 200)) / T(3));
    all.push_back(values);
  }
  return all;
}

template <class T>
std::vector<const void*> addresses(const std::vector<std::vector<T>>& parts) {
  std::vector<const void*> out;
  for (const auto& part : parts) out.push_back(part.data());
  return out;
}

template <class T>
void compare(DType dtype) {
  for (const int count : {1, 2, 5}) {
    for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMax}) {
      auto parts = drawn<T>(count);
      std::vector<T> wanted = parts[0];
      for (int p = 1; p < count; ++p) {
        for (size_t i = 0; i < wanted.size(); ++i) {
          const T x = parts[size_t(p)][i];
          wanted[i] = op == ReduceOp::kSum ? T(wanted[i] + x) : std::max(wanted[i], x);
        }
      }
      reduce(dtype, op, addresses(parts), kLength, parts.back().data());
      EXPECT_TRUE(parts.back() == wanted);
    }
  }
}

}  // namespace

TEST(each_dtype_in_its_own_arithmetic_and_in_order) {
  compare<float>(DType::kF32);
  compare<double>(DType::kF64);
  compare<int32_t>(DType::kI32);
  compare<int64_t>(DType::kI64);
  compare<uint8_t>(DType::kU8);
  compare<uint32_t>(DType::kU32);
}

TEST(bf16_is_added_in_f32_and_rounded_once) {
  // In bf16 256 + 1 is a tie that rounds to 256 each time; the f32 sum 260 is exact in bf16.
  std::vector<std::vector<uint16_t>> parts{{f32_to_bf16(256.0f)}};
  for (int k = 0; k < 4; ++k) parts.push_back({f32_to_bf16(1.0f)});
  uint16_t sum = 0, most = 0;
  reduce(DType::kBF16, ReduceOp::kSum, addresses(parts), 1, &sum);
  reduce(DType::kBF16, ReduceOp::kMax, addresses(parts), 1, &most);
  EXPECT_EQ(bf16_to_f32(sum), 260.0f);
  EXPECT_EQ(bf16_to_f32(most), 256.0f);
}

TEST(a_sum_of_one_part_keeps_its_bits) {
  const std::vector<std::vector<float>> parts{{-0.0f}};
  float out = 1.0f;
  reduce(DType::kF32, ReduceOp::kSum, addresses(parts), 1, &out);
  EXPECT_TRUE(std::signbit(out));
}

TEST(integers_wrap_around) {
  const std::vector<std::vector<int32_t>> parts{{std::numeric_limits<int32_t>::max()}, {1}};
  int32_t out = 0;
  reduce(DType::kI32, ReduceOp::kSum, addresses(parts), 1, &out);
  EXPECT_EQ(out, std::numeric_limits<int32_t>::min());
}

TEST(what_is_only_passed_on_is_refused) {
  EXPECT_THROWS(expect_reducible("all_reduce", DType::kF16), Code::kShape);
  EXPECT_THROWS(reduce(DType::kBool, ReduceOp::kSum, {}, 0, nullptr), Code::kShape);
  expect_reducible("all_reduce", DType::kBF16);
}

}  // namespace dist_reduce_test
