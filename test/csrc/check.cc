#include "check.h"

/// Makes the address sanitizer return null for an allocation that is too large, as the system does, instead
/// of ending the program.
#if defined(__SANITIZE_ADDRESS__)
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() { return "allocator_may_return_null=1"; }
#elif defined(__SANITIZE_THREAD__)
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_options() { return "allocator_may_return_null=1"; }
#endif

namespace hone::test {
namespace {

struct Case { const char* name; void (*run)(); const char* file; const char* base; };
std::vector<Case>& cases() { static std::vector<Case> all; return all; }

/// The tests of one file, such as "engine/step", or of all files if `file` is null. Runs the setup of these
/// files first.
std::vector<Case> chosen(const char* file) {
  const std::string path = file ? std::string("test/csrc/") + file + ".test.c" : "";
  std::vector<Case> found;
  for (const Case& c : cases()) {
    if (!std::strstr(c.file, path.c_str()) && !std::strstr(c.base, path.c_str())) continue;
    if (c.name) found.push_back(c);
    else c.run();
  }
  if (found.empty()) report(file ? file : "", 0, "no cases");
  return found;
}

int run(const std::vector<Case>& all) {
  for (const Case& c : all) {
    const int before = failures();
    try {
      c.run();
    } catch (const Error& e) {
      report(c.name, 0, std::string("threw ") + code_name(e.code()) + ": " + e.what());
    } catch (const std::exception& e) {
      report(c.name, 0, std::string("threw ") + e.what());
    }
    std::printf("%s %s\n", failures() == before ? "ok  " : "FAIL", c.name);
    std::fflush(stdout);  // so that the result is printed even if the next test never ends
  }
  std::printf("%zu cases, %d failures, %d skipped\n", all.size(), failures(), skipped());
  return failures() ? 1 : 0;
}

}  // namespace

bool add(const char* name, void (*run)(), const char* file, const char* base) {
  cases().push_back({name, run, file, base});
  return true;
}
int& failures() { static int n = 0; return n; }
int& skipped() { static int n = 0; return n; }

void report(const char* file, int line, const std::string& text) {
  if (++failures() <= 40) std::printf("  %s:%d: %s\n", file, line, text.c_str());
}

int64_t random_int(int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random());
}
std::vector<float> random_floats(int64_t n, float scale) {
  std::normal_distribution<float> normal(0.0f, scale);
  std::vector<float> out(static_cast<size_t>(n));
  for (float& x : out) x = normal(random());
  return out;
}

}  // namespace hone::test

/// Usage: program [file]. Runs the tests of one file of test/csrc, such as engine/step, or all tests in the
/// program.
int main(int count, char** arguments) { return hone::test::run(hone::test::chosen(count > 1 ? arguments[1] : nullptr)); }
