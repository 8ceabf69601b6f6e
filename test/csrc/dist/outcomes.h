// Checks of what happened on the ranks of a group.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "check.h"
#include "core/tensor.h"

namespace hone::test {

using std::chrono::milliseconds;

inline std::string outcome(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(code_name(error.code())) + " " + error.what();
  }
  return "ok";
}

inline void expect_all(const std::vector<std::string>& said, const std::string& wanted) {
  for (const std::string& text : said) EXPECT_EQ(text, wanted);
}

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Values whose sum over ranks is exact in any order.
inline std::vector<float> values(int64_t n, int rank) {
  std::vector<float> out(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) out[size_t(i)] = float((i * 7 + rank * 31 + (i ^ rank)) % 97 - 48);
  return out;
}

inline TensorView view(std::vector<float>& v) { return f32(v.data(), {int64_t(v.size())}); }

}  // namespace hone::test
