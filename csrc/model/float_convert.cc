#include "model/float_convert.h"

#include <cmath>
#include <cstring>

namespace hone::model {
namespace {

uint32_t bits_of(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return bits;
}
float from_bits(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}

float f16_to_f32(uint16_t h) {
  const uint32_t sign = uint32_t(h & 0x8000u) << 16, exponent = (h >> 10) & 31u, mantissa = h & 0x3ffu;
  if (exponent == 31) return from_bits(sign | 0x7f800000u | mantissa << 13);
  if (exponent != 0) return from_bits(sign | (exponent + 112) << 23 | mantissa << 13);
  const float magnitude = float(mantissa) * 0x1p-24f;  // zero and subnormals are exact in f32
  return sign ? -magnitude : magnitude;
}

uint16_t f32_to_f16(float x) {
  const uint32_t bits = bits_of(x), sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return uint16_t(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  if (magnitude >= 0x477ff000u) return uint16_t(sign | 0x7c00u);  // values from 65520 on round to infinity
  if (magnitude < 0x38800000u) {
    // Subnormal: after adding 0.5 the last bit is 2^-24, so the addition rounds to nearest even.
    return uint16_t(sign | (bits_of(from_bits(magnitude) + 0.5f) - bits_of(0.5f)));
  }
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return uint16_t(sign | ((rounded - (112u << 23)) >> 13));
}

/// Rounds f64 to f32 "to odd": toward zero, with the last bit set if anything was cut off. Rounding the
/// result again to fewer bits then equals a single rounding.
float to_odd(double x) {
  const float nearest = float(x);
  if (double(nearest) == x || std::isnan(x)) return nearest;
  const float inward = std::fabs(double(nearest)) > std::fabs(x) ? std::nextafter(nearest, 0.0f) : nearest;
  return from_bits(bits_of(inward) | 1u);
}

template <class From, class To, class Convert>
int64_t convert_all(const void* from, void* to, int64_t n, Convert convert) {
  int64_t overflow = -1;
  for (int64_t i = 0; i < n; ++i) {
    From x;
    std::memcpy(&x, static_cast<const char*>(from) + i * int64_t(sizeof(From)), sizeof(From));
    bool overflowed = false;
    const To y = convert(x, overflowed);
    std::memcpy(static_cast<char*>(to) + i * int64_t(sizeof(To)), &y, sizeof(To));
    if (overflowed && overflow < 0) overflow = i;
  }
  return overflow;
}

/// Converts n values of type From. `widen` converts one to f32: exactly, or by to_odd.
template <class From, class Widen>
int64_t narrow(const void* from, void* to, DType to_type, int64_t n, Widen widen) {
  if (to_type == DType::kBF16) {
    return convert_all<From, uint16_t>(from, to, n, [&](From x, bool& overflowed) {
      const float wide = widen(x);
      const uint16_t y = f32_to_bf16(wide);
      overflowed = (y & 0x7fffu) == 0x7f80u && std::isfinite(wide);
      return y;
    });
  }
  return convert_all<From, uint16_t>(from, to, n, [&](From x, bool& overflowed) {
    const float wide = widen(x);
    const uint16_t y = f32_to_f16(wide);
    overflowed = (y & 0x7fffu) == 0x7c00u && std::isfinite(wide);
    return y;
  });
}

template <class From, class Widen>
int64_t convert_from(const void* from, void* to, DType to_type, int64_t n, Widen widen) {
  if (to_type == DType::kBF16 || to_type == DType::kF16) return narrow<From>(from, to, to_type, n, widen);
  if (to_type != DType::kF32) fail(Code::kInternal, "convert_floats: to %s.", dtype_name(to_type));
  return convert_all<From, float>(from, to, n, [&](From x, bool&) { return widen(x); });
}

int64_t convert_f64(const void* from, void* to, DType to_type, int64_t n) {
  if (to_type != DType::kF32) return convert_from<double>(from, to, to_type, n, to_odd);
  return convert_all<double, float>(from, to, n, [](double x, bool& overflowed) {
    overflowed = std::isfinite(x) && std::isinf(float(x));
    return float(x);
  });
}

}  // namespace

bool is_weight_float(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kBF16 || dtype == DType::kF16 || dtype == DType::kF64;
}

int64_t convert_floats(const void* from, DType from_type, void* to, DType to_type, int64_t n) {
  if (from_type == to_type) {
    if (n > 0) std::memcpy(to, from, size_t(n * dtype_bytes(to_type)));
    return -1;
  }
  switch (from_type) {
    case DType::kF32: return convert_from<float>(from, to, to_type, n, [](float x) { return x; });
    case DType::kBF16: return convert_from<uint16_t>(from, to, to_type, n, bf16_to_f32);
    case DType::kF16: return convert_from<uint16_t>(from, to, to_type, n, f16_to_f32);
    case DType::kF64: return convert_f64(from, to, to_type, n);
    default: break;
  }
  fail(Code::kInternal, "convert_floats: from %s.", dtype_name(from_type));
}

}  // namespace hone::model
