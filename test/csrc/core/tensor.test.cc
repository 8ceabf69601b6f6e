// Tensor views, shape errors and bf16 rounding.
#include "core/tensor.h"

#include "check.h"

namespace core_tensor_test {

using namespace hone;
using namespace hone::test;

namespace {

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return std::string(code_name(e.code())) + " " + e.what();
  }
  return "";
}

/// Rounds to bf16 by definition: to the nearer of the two neighbours, or in a tie to the one with even
/// mantissa.
uint16_t nearest_bf16(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  const uint16_t below = uint16_t(bits >> 16), above = uint16_t(below + 1);
  // Above the largest finite value, the next bf16 counts as 2^128.
  const double low = bf16_to_f32(below);
  const double high = std::isinf(bf16_to_f32(above)) ? std::copysign(0x1p128, double(x)) : double(bf16_to_f32(above));
  const double to_low = std::fabs(double(x) - low), to_high = std::fabs(high - double(x));
  if (to_low != to_high) return to_low < to_high ? below : above;
  return below % 2 == 0 ? below : above;
}

}  // namespace

TEST(a_view_knows_its_rows) {
  float data[24] = {};
  TensorView v = f32(data, {2, 3, 4});
  EXPECT_EQ(v.numel(), 24);
  EXPECT_EQ(v.row_stride, 12);
  EXPECT_TRUE(v.contiguous());
  EXPECT_TRUE(v.row<float>(1) == data + 12);
  TensorView columns = f32(data, {4, 2});
  columns.row_stride = 6;
  EXPECT_TRUE(!columns.contiguous());
  EXPECT_TRUE(columns.row<float>(3) == data + 18);
  columns.shape[0] = 1;
  EXPECT_TRUE(columns.contiguous());
  EXPECT_TRUE(TensorView().empty());
}

TEST(a_wrong_argument_is_named_with_both_shapes) {
  float data[12] = {};
  const TensorView v = f32(data, {12});
  EXPECT_EQ(message_of([&] { expect(v, DType::kF32, {16}, "op", "x"); }), "SHAPE op: x is f32[12], expected f32[16].");
  EXPECT_EQ(message_of([&] { expect(v, DType::kI32, {12}, "op", "x"); }), "SHAPE op: x is f32[12], expected i32[12].");
  EXPECT_EQ(message_of([&] { expect(v, DType::kF32, {3, 4}, "op", "x"); }),
            "SHAPE op: x is f32[12], expected f32[3, 4].");
  EXPECT_EQ(message_of([&] { expect(TensorView(), DType::kU8, {3}, "op", "mask"); }),
            "SHAPE op: mask is null, expected u8[3].");
  EXPECT_EQ(message_of([&] { expect(v, DType::kF32, {12}, "op", "x"); }), "");
  TensorView none = f32(static_cast<float*>(nullptr), {0});
  EXPECT_EQ(message_of([&] { expect(none, DType::kF32, {0}, "op", "x"); }), "");
  TensorView strided = f32(data, {3, 2});
  strided.row_stride = 4;
  EXPECT_EQ(message_of([&] { expect_contiguous(strided, DType::kF32, {3, 2}, "op", "x"); }),
            "SHAPE op: x has row stride 4; it must be contiguous.");
}

TEST(dtypes_have_sizes_and_names) {
  const struct { DType dtype; int64_t bytes; const char* name; } all[] = {
      {DType::kF32, 4, "f32"}, {DType::kBF16, 2, "bf16"}, {DType::kF16, 2, "f16"}, {DType::kF64, 8, "f64"},
      {DType::kI32, 4, "i32"}, {DType::kI64, 8, "i64"}, {DType::kU8, 1, "u8"}, {DType::kU32, 4, "u32"}};
  for (const auto& d : all) {
    EXPECT_EQ(dtype_bytes(d.dtype), d.bytes);
    EXPECT_EQ(std::string(dtype_name(d.dtype)), d.name);
  }
}

TEST(bf16_rounds_to_nearest_even) {
  for (int i = 0; i < 20000; ++i) {
    const uint32_t bits = uint32_t(test::random()());
    float x;
    std::memcpy(&x, &bits, 4);
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(x))));
    } else if (!std::isinf(x)) {
      EXPECT_EQ(f32_to_bf16(x), nearest_bf16(x));
    }
  }
  for (uint32_t tie : {0x3f808000u, 0x3f818000u, 0x00008000u, 0x7f7f8000u, 0x80018000u}) {
    float x;
    std::memcpy(&x, &tie, 4);
    EXPECT_EQ(f32_to_bf16(x), nearest_bf16(x));
  }
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(bf16_to_f32(f32_to_bf16(infinity)), infinity);
  EXPECT_EQ(bf16_to_f32(f32_to_bf16(-infinity)), -infinity);
}

}  // namespace core_tensor_test
