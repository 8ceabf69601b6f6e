#include "dist/reduce.h"

#include <algorithm>
#include <type_traits>

namespace hone::dist {
namespace {

constexpr int64_t kBlock = 1024;  // elements of a block, whose running result stays in the L1 cache

struct Bf16 {
  uint16_t bits;
};

float widened(Bf16 x) { return bf16_to_f32(x.bits); }
template <class T>
T widened(T x) {
  return x;
}

template <class T>
using Sum = std::conditional_t<std::is_same_v<T, Bf16>, float, T>;

template <class T>
void store(Sum<T> value, T& to) {
  if constexpr (std::is_same_v<T, Bf16>) {
    to.bits = f32_to_bf16(value);
  } else {
    to = value;
  }
}

/// Adds; integers are added as unsigned numbers, so that they wrap around.
template <class S>
S added(S a, S b) {
  if constexpr (std::is_integral_v<S>) {
    return S(std::make_unsigned_t<S>(a) + std::make_unsigned_t<S>(b));
  } else {
    return a + b;
  }
}

template <class T>
void reduce_as(ReduceOp op, const std::vector<const void*>& parts, int64_t n, void* out) {
  Sum<T> run[kBlock];
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t count = std::min(kBlock, n - begin);
    for (size_t p = 0; p < parts.size(); ++p) {
      const T* const from = static_cast<const T*>(parts[p]) + begin;
      if (p == 0) {
        for (int64_t i = 0; i < count; ++i) run[i] = widened(from[i]);
      } else if (op == ReduceOp::kSum) {
        for (int64_t i = 0; i < count; ++i) run[i] = added<Sum<T>>(run[i], widened(from[i]));
      } else {
        for (int64_t i = 0; i < count; ++i) run[i] = run[i] > widened(from[i]) ? run[i] : widened(from[i]);
      }
    }
    for (int64_t i = 0; i < count; ++i) store(run[i], static_cast<T*>(out)[begin + i]);
  }
}

}  // namespace

void expect_reducible(const char* what, DType dtype) {
  switch (dtype) {
    case DType::kF32: case DType::kF64: case DType::kBF16: case DType::kI32: case DType::kI64: case DType::kU8:
    case DType::kU32: return;
    default: fail(Code::kShape, "%s: dtype %s can be passed on, not added or compared.", what, dtype_name(dtype));
  }
}

void reduce(DType dtype, ReduceOp op, const std::vector<const void*>& parts, int64_t n, void* out) {
  switch (dtype) {
    case DType::kF32: return reduce_as<float>(op, parts, n, out);
    case DType::kF64: return reduce_as<double>(op, parts, n, out);
    case DType::kBF16: return reduce_as<Bf16>(op, parts, n, out);
    case DType::kI32: return reduce_as<int32_t>(op, parts, n, out);
    case DType::kI64: return reduce_as<int64_t>(op, parts, n, out);
    case DType::kU8: return reduce_as<uint8_t>(op, parts, n, out);
    case DType::kU32: return reduce_as<uint32_t>(op, parts, n, out);
    default: return expect_reducible("reduce", dtype);
  }
}

}  // namespace hone::dist
