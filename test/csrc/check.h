// The C++ test framework. A test is TEST(name) { ... } with EXPECT_* inside, in its file's own namespace.
// check.cc runs the tests of a file, which is a program of its own or, with HONE_TEST_MODULES, part of its
// module's program.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "core/error.h"

namespace hone::test {

/// Registers a test or, if `name` is null, the setup that runs before its file's tests. `file` is the file;
/// `base` is the file that includes it, if any.
bool add(const char* name, void (*run)(), const char* file, const char* base);
int& failures();
int& skipped();
void report(const char* file, int line, const std::string& text);

template <class T>
std::string show(const T& value) {
  std::ostringstream out;
  out.precision(9);
  out << value;
  return out.str();
}

/// Seed of random(), the same in every run, so that no test fails by chance; HONE_TEST_SEED=N sets another
/// seed, HONE_TEST_SEED=random draws one.
inline uint64_t seed() {
  static const uint64_t value = [] {
    const std::string given = std::getenv("HONE_TEST_SEED") ? std::getenv("HONE_TEST_SEED") : "1";
    const uint64_t s = given == "random" ? std::random_device{}() : std::strtoull(given.c_str(), nullptr, 10);
    std::printf("seed %llu (repeat with HONE_TEST_SEED)\n", (unsigned long long)s);
    return s;
  }();
  return value;
}
inline std::mt19937_64& random() { static std::mt19937_64 r(seed()); return r; }
int64_t random_int(int64_t low, int64_t high);  // inclusive
std::vector<float> random_floats(int64_t n, float scale = 1.0f);
/// n NaNs, for outputs: an element that was not written then fails every comparison.
inline std::vector<float> poison(int64_t n) {
  return std::vector<float>(static_cast<size_t>(n), std::numeric_limits<float>::quiet_NaN());
}
inline bool same_bits(const float* a, const float* b, int64_t n) {
  return std::memcmp(a, b, size_t(n) * sizeof(float)) == 0;
}

/// Prints a measurement that is neither right nor wrong; scripts/gpu-check.sh keeps such lines.
inline void note(const std::string& text) { std::printf("  noted: %s\n", text.c_str()); }

}  // namespace hone::test

#define TEST(name)                                                                         \
  static void name();                                                                      \
  static const bool name##_added = hone::test::add(#name, name, __FILE__, __BASE_FILE__); \
  static void name()
/// Defines what runs before the first test of a file, e.g. to choose the kind of device.
#define TEST_SETUP                                                                        \
  static void set_up();                                                                   \
  static const bool is_set_up = hone::test::add(nullptr, set_up, __FILE__, __BASE_FILE__); \
  static void set_up()
#define EXPECT_TRUE(x) \
  do { if (!(x)) hone::test::report(__FILE__, __LINE__, "expected " #x); } while (0)
#define EXPECT_EQ(a, b)                                                                                  \
  do {                                                                                                   \
    const auto va_ = (a); const auto vb_ = (b);                                                          \
    if (!(va_ == vb_)) hone::test::report(__FILE__, __LINE__, #a " is " + hone::test::show(va_) +        \
                                          ", expected " + hone::test::show(vb_));                        \
  } while (0)
/// Expects |a - b| <= tolerance; fails for NaN.
#define EXPECT_NEAR(a, b, tolerance)                                                                     \
  do {                                                                                                   \
    const double va_ = double(a), vb_ = double(b);                                                       \
    if (!(std::fabs(va_ - vb_) <= double(tolerance)))                                                    \
      hone::test::report(__FILE__, __LINE__, #a " is " + hone::test::show(va_) + ", expected " +         \
                         hone::test::show(vb_) + " +- " + hone::test::show(double(tolerance)));          \
  } while (0)
#define EXPECT_THROWS(statement, wanted_code)                                                            \
  do {                                                                                                   \
    bool thrown_ = false;                                                                                \
    try { statement; } catch (const hone::Error& e_) {                                                   \
      thrown_ = e_.code() == (wanted_code);                                                              \
      if (!thrown_) hone::test::report(__FILE__, __LINE__, std::string("threw another code: ") + e_.what()); \
      thrown_ = true;                                                                                    \
    }                                                                                                    \
    if (!thrown_) hone::test::report(__FILE__, __LINE__, #statement " did not throw");                   \
  } while (0)
#define SKIP(reason)                                        \
  do {                                                      \
    ++hone::test::skipped();                                \
    std::printf("  skipped: %s\n", reason);                 \
    return;                                                 \
  } while (0)
