#include "check.h"

/// Sanitizers refuse what cannot be had, as the system does, and do not stop the program.
#if defined(__SANITIZE_ADDRESS__)
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() { return "allocator_may_return_null=1"; }
#elif defined(__SANITIZE_THREAD__)
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_options() { return "allocator_may_return_null=1"; }
#endif

namespace hone::test {
namespace {

struct Case { const char* name; void (*run)(); };
std::vector<Case>& cases() { static std::vector<Case> all; return all; }

}  // namespace

bool add(const char* name, void (*run)()) { cases().push_back({name, run}); return true; }
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

int main() {
  for (const Case& c : cases()) {
    const int before = failures();
    try {
      c.run();
    } catch (const Error& e) {
      report(c.name, 0, std::string("threw ") + code_name(e.code()) + ": " + e.what());
    } catch (const std::exception& e) {
      report(c.name, 0, std::string("threw ") + e.what());
    }
    std::printf("%s %s\n", failures() == before ? "ok  " : "FAIL", c.name);
    std::fflush(stdout);  // what was found is there even if the next case never ends
  }
  std::printf("%zu cases, %d failures, %d skipped\n", cases().size(), failures(), skipped());
  return failures() ? 1 : 0;
}

}  // namespace hone::test
