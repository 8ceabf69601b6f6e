// Tensor views: typed, shaped references to memory that an arena or a caller owns.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "core/error.h"

namespace hone {

/// kBool and the types after it only occur in files and are copied unchanged; no op computes with them.
enum class DType : uint8_t { kF32, kBF16, kF16, kF64, kI32, kI64, kU8, kU32,
                             kBool, kI8, kI16, kU16, kU64, kF8E4M3, kF8E5M2 };

/// Bytes of one element.
int64_t dtype_bytes(DType dtype);
/// "f32", "bf16", ...
const char* dtype_name(DType dtype);

/// A view of memory that it does not own: up to four dimensions, contiguous except that rows may be a
/// distance `row_stride` apart. `row_stride` is in elements; it equals the product of the inner dimensions
/// unless the view is a range of columns of a wider matrix (an op that accepts such views says "strided
/// rows").
struct TensorView {
  void* data = nullptr;
  DType dtype = DType::kF32;
  int rank = 0;
  int64_t shape[4] = {0, 0, 0, 0};
  int64_t row_stride = 0;

  TensorView() = default;
  TensorView(void* data, DType dtype, std::initializer_list<int64_t> dims);

  int64_t dim(int i) const { return shape[i]; }
  int64_t numel() const;
  bool empty() const { return data == nullptr; }
  bool contiguous() const;

  template <class T>
  T* as() const { return static_cast<T*>(data); }
  /// Pointer to row i of a (possibly strided) view.
  template <class T>
  T* row(int64_t i) const { return static_cast<T*>(data) + i * row_stride; }
};

/// An f32 view of shape `dims` at `data`.
inline TensorView f32(float* data, std::initializer_list<int64_t> dims) { return {data, DType::kF32, dims}; }
inline TensorView f32(const float* data, std::initializer_list<int64_t> dims) {
  return {const_cast<float*>(data), DType::kF32, dims};
}
inline TensorView i32(const int32_t* data, std::initializer_list<int64_t> dims) {
  return {const_cast<int32_t*>(data), DType::kI32, dims};
}
inline TensorView u8(const uint8_t* data, std::initializer_list<int64_t> dims) {
  return {const_cast<uint8_t*>(data), DType::kU8, dims};
}

/// Throws kShape "op: arg is f32[12], expected f32[16]." unless dtype and every dimension match.
/// A null pointer passes only if the expected element count is 0.
void expect(const TensorView& view, DType dtype, std::initializer_list<int64_t> dims, const char* op,
            const char* arg);
/// Throws like expect(), and also if the rows are not contiguous.
void expect_contiguous(const TensorView& view, DType dtype, std::initializer_list<int64_t> dims,
                       const char* op, const char* arg);

/// bf16 <-> f32. Round to nearest even; NaN stays NaN.
inline float bf16_to_f32(uint16_t x) {
  const uint32_t bits = uint32_t(x) << 16;
  float out;
  __builtin_memcpy(&out, &bits, 4);
  return out;
}
inline uint16_t f32_to_bf16(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, 4);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return uint16_t((bits >> 16) | 0x40);
  return uint16_t((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}

}  // namespace hone
