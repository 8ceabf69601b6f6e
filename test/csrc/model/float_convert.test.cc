// Conversion of every 16-bit value and its neighbourhood; rounding is compared with a search over all
// representable values. Faults put into the code: truncation, ties away from zero, f64 through f32 without
// to_odd, NaN that becomes infinity, the last overflow reported instead of the first: each is detected.
// Omitting the special case of 65520 is not detected, because the general rounding gives infinity too.
#include "model/float_convert.h"

#include <algorithm>
#include <cfloat>

#include "check.h"

namespace model_float_convert_test {
namespace {

using namespace hone;
using model::convert_floats;

template <class To, class From>
To converted(From x, DType from, DType to, int64_t wanted_overflow = -1) {
  To y;
  EXPECT_EQ(convert_floats(&x, from, &y, to, 1), wanted_overflow);
  return y;
}
float f32_of(uint16_t bits, DType type) { return converted<float>(bits, type, DType::kF32); }

/// The finite non-negative values of a 16-bit float type, indexed by their bits.
std::vector<double> finite_values(DType type) {
  std::vector<double> out;
  const uint16_t infinity = type == DType::kF16 ? 0x7c00 : 0x7f80;
  for (uint16_t bits = 0; bits < infinity; ++bits) out.push_back(double(f32_of(bits, type)));
  return out;
}

/// Bits of the value nearest to x, the even one in a tie; the index after the last value is infinity.
uint16_t nearest(const std::vector<double>& values, double x) {
  const double beyond = values.back() + (values.back() - values[values.size() - 2]);
  const double magnitude = std::fabs(x);
  const auto above = std::lower_bound(values.begin(), values.end(), magnitude);
  const size_t high = size_t(above - values.begin());
  if (high == 0) return 0;
  const double low_value = values[high - 1], high_value = high < values.size() ? values[high] : beyond;
  const double down = magnitude - low_value, up = high_value - magnitude;
  const size_t pick = down < up ? high - 1 : up < down ? high : (high % 2 == 0 ? high : high - 1);
  return uint16_t(std::min(pick, values.size()) | (std::signbit(x) ? 0x8000u : 0u));
}

TEST(f16_means_what_the_standard_says) {
  const struct { uint16_t bits; float value; } cases[] = {
      {0x0000, 0.0f}, {0x0001, 0x1p-24f}, {0x03ff, 1023 * 0x1p-24f}, {0x0400, 0x1p-14f}, {0x3555, 0.333251953125f},
      {0x3c00, 1.0f}, {0x3c01, 1.0009765625f}, {0x4248, 3.140625f}, {0x7bff, 65504.0f}, {0xc000, -2.0f}};
  for (const auto& c : cases) EXPECT_EQ(f32_of(c.bits, DType::kF16), c.value);
  EXPECT_TRUE(std::signbit(f32_of(0x8000, DType::kF16)));
  EXPECT_TRUE(std::isinf(f32_of(0x7c00, DType::kF16)) && std::isnan(f32_of(0x7e01, DType::kF16)));
  EXPECT_EQ(f32_of(0xc049, DType::kBF16), -3.140625f);
}

TEST(every_16_bit_value_survives_f32_and_f64) {
  for (const DType type : {DType::kF16, DType::kBF16}) {
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const float wide = f32_of(uint16_t(bits), type);
      const uint16_t back = converted<uint16_t>(wide, DType::kF32, type);
      const uint16_t through_f64 = converted<uint16_t>(double(wide), DType::kF64, type);
      const bool same = std::isnan(wide) ? std::isnan(f32_of(back, type)) : back == bits && through_f64 == bits;
      if (!same) return test::report(__FILE__, __LINE__, "bits " + std::to_string(bits));
    }
  }
}

TEST(what_lies_between_rounds_to_the_nearest_and_ties_to_even) {
  for (const DType type : {DType::kF16, DType::kBF16}) {
    const std::vector<double> values = finite_values(type);
    for (size_t i = 0; i + 1 < values.size(); ++i) {
      const double middle = (values[i] + values[i + 1]) / 2;
      for (const double x : {middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e300), -middle}) {
        const uint16_t got = converted<uint16_t>(x, DType::kF64, type);
        if (got != nearest(values, x)) return test::report(__FILE__, __LINE__, "f64 " + test::show(x));
        const float narrow = float(x);
        const uint16_t from_f32 = converted<uint16_t>(narrow, DType::kF32, type);
        if (from_f32 != nearest(values, double(narrow))) return test::report(__FILE__, __LINE__, "f32 " + test::show(x));
      }
    }
  }
}

TEST(random_numbers_round_to_the_nearest) {
  for (const DType type : {DType::kF16, DType::kBF16}) {
    const std::vector<double> values = finite_values(type);
    for (int i = 0; i < 20000; ++i) {
      const double x = std::ldexp(test::random_floats(1)[0], int(test::random_int(-30, 12)));
      EXPECT_EQ(converted<uint16_t>(x, DType::kF64, type), nearest(values, x));
      EXPECT_EQ(converted<uint16_t>(float(x), DType::kF32, type), nearest(values, double(float(x))));
    }
  }
}

TEST(the_first_finite_number_that_becomes_infinite_is_reported) {
  const float numbers[6] = {65519.99f, -INFINITY, NAN, -65520.0f, 65520.0f, 1.0f};
  uint16_t out[6];
  EXPECT_EQ(convert_floats(numbers, DType::kF32, out, DType::kF16, 6), 3);
  EXPECT_EQ(convert_floats(numbers, DType::kF32, out, DType::kF16, 3), -1);
  EXPECT_EQ(out[0], 0x7bff);
  EXPECT_EQ(out[1], 0xfc00);
  EXPECT_EQ(out[2] & 0x7e00, 0x7e00);
  EXPECT_EQ(converted<uint16_t>(FLT_MAX, DType::kF32, DType::kBF16, 0), 0x7f80);
  EXPECT_EQ(converted<uint16_t>(uint16_t(0x7f7f), DType::kBF16, DType::kF16, 0), 0x7c00);
  EXPECT_EQ(converted<uint16_t>(1e300, DType::kF64, DType::kF16, 0), 0x7c00);
  EXPECT_TRUE(std::isinf(converted<float>(-1e300, DType::kF64, DType::kF32, 0)));
  EXPECT_EQ(converted<float>(0.1, DType::kF64, DType::kF32), 0.1f);
}

TEST(unaligned_bytes_and_nothing_at_all_are_fine) {
  char from[9], to[17];
  const uint16_t bits[4] = {0x3f80, 0x4000, 0xc000, 0x0000};
  std::memcpy(from + 1, bits, 8);
  EXPECT_EQ(convert_floats(from + 1, DType::kBF16, to + 1, DType::kF32, 4), -1);
  float out[4];
  std::memcpy(out, to + 1, 16);
  EXPECT_TRUE(out[0] == 1.0f && out[1] == 2.0f && out[2] == -2.0f && out[3] == 0.0f);
  EXPECT_EQ(convert_floats(nullptr, DType::kF32, nullptr, DType::kBF16, 0), -1);
  EXPECT_EQ(convert_floats(nullptr, DType::kF32, nullptr, DType::kF32, 0), -1);
}

TEST(integers_are_no_weights) {
  for (const DType type : {DType::kI32, DType::kU8, DType::kBool, DType::kF8E4M3}) EXPECT_TRUE(!model::is_weight_float(type));
  int32_t x = 1;
  EXPECT_THROWS(convert_floats(&x, DType::kI32, &x, DType::kF32, 1), Code::kInternal);
  float y = 1;
  EXPECT_THROWS(convert_floats(&y, DType::kF32, &x, DType::kF64, 1), Code::kInternal);
}

}  // namespace
}  // namespace model_float_convert_test
