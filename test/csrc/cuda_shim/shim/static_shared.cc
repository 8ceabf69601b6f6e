// For the host's compiler a __shared__ variable is an ordinary static variable. AddressSanitizer reports
// address and source line of every static variable; those whose source line contains __shared__ are the
// shared ones. (A linker section for them would be simpler, but GCC ignores the attribute in templates: bug
// 70435.)
#include "shim/static_shared.h"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "shim/machine.h"

namespace hone::cuda_shim {
namespace {

struct Range {
  unsigned char* begin;
  size_t bytes;
};

std::vector<Range>& variables() {
  static auto& all = *new std::vector<Range>;
  return all;
}

}  // namespace

void poison_static_shared(unsigned char value) {
  for (const Range& v : variables()) std::memset(v.begin, value, v.bytes);
}

void save_static_shared(std::vector<unsigned char>& to) {
  to.clear();
  for (const Range& v : variables()) to.insert(to.end(), v.begin, v.begin + v.bytes);
}

void load_static_shared(const std::vector<unsigned char>& from) {
  const unsigned char* at = from.data();
  for (const Range& v : variables()) {
    std::memcpy(v.begin, at, v.bytes);
    at += v.bytes;
  }
}

bool in_static_shared([[maybe_unused]] const void* p, [[maybe_unused]] size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  const auto* at = static_cast<const unsigned char*>(p);
  for (const Range& v : variables()) {
    if (at >= v.begin && at + bytes <= v.begin + v.bytes) return true;
  }
  return false;
#else
  return !is_device_pointer(p);
#endif
}

}  // namespace hone::cuda_shim

#if defined(__SANITIZE_ADDRESS__)
// What the compiler tells the sanitizer about static variables; the function it calls is wrapped by the
// linker option --wrap.
struct AsanLocation {
  const char* file;
  int line, column;
};
struct AsanGlobal {
  unsigned char* begin;
  size_t bytes, bytes_with_redzone;
  const char *name, *module_name;
  size_t has_dynamic_init;
  const AsanLocation* location;
  size_t odr_indicator;
};

namespace {

bool says_shared(const char* file, int number) {
  std::ifstream source(file);
  // ccache compiles by a relative path: without its ../ it is a path from the folder in which the tests run.
  for (const char* at = file; !source && !std::strncmp(at, "../", 3); at += 3) source.open(at + 3);
  std::string line;
  for (int i = 0; i < number; ++i) std::getline(source, line);
  return line.find("__shared__") != std::string::npos;
}

bool is_cuda_source(const char* file) {
  const size_t n = std::strlen(file);
  return n > 3 && (!std::strcmp(file + n - 3, ".cu") || !std::strcmp(file + n - 4, ".cuh"));
}

}  // namespace

extern "C" void __real___asan_register_globals(AsanGlobal* globals, size_t n);
// The lists lie in red zones of the sanitizer, so this function is not instrumented.
extern "C" __attribute__((visibility("default"), no_sanitize("address"))) void __wrap___asan_register_globals(
    AsanGlobal* globals, size_t n);
void __wrap___asan_register_globals(AsanGlobal* globals, size_t n) {
  __real___asan_register_globals(globals, n);
  for (size_t i = 0; i < n; ++i) {
    const AsanLocation* place = globals[i].location;
    if (!place || !place->file || !is_cuda_source(place->file) || !says_shared(place->file, place->line)) continue;
    hone::cuda_shim::variables().push_back({globals[i].begin, globals[i].bytes});
  }
}
#endif
