// Describes how much the results of two computations of the same values differ.
#pragma once

#include <cstdlib>

#include "check.h"

namespace hone::test {

/// A text such as "12 of 340 differ, by 2 last places at most". Last places are those of bf16 if all values
/// are bf16 numbers, otherwise of f32.
inline std::string apart(const std::vector<float>& a, const std::vector<float>& b) {
  const auto place = [](float x) {
    int32_t bits;
    std::memcpy(&bits, &x, 4);
    return int64_t(bits < 0 ? int32_t(0x80000000u) - int64_t(bits) : bits);
  };
  const auto coarse = [](const std::vector<float>& x) {
    for (const float v : x) {
      uint32_t bits;
      std::memcpy(&bits, &v, 4);
      if (bits & 0xffffu) return false;
    }
    return true;
  };
  const int64_t unit = coarse(a) && coarse(b) ? 0x10000 : 1;
  int64_t differ = 0, most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const int64_t steps = std::llabs(place(a[i]) - place(b[i]));
    differ += steps != 0;
    most = steps > most ? steps : most;
  }
  return show(differ) + " of " + show(a.size()) + " differ, by " + show(most / unit) + " last places at most";
}

}  // namespace hone::test
