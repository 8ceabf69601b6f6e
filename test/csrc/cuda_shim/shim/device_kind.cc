// The kind of device that the shim emulates, the launches that such a device would refuse, and the shim's
// random numbers.
#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "shim/machine_state.h"

namespace hone::cuda_shim {

void fault(const char* format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  Fiber::before_throw();
  throw Fault(text);
}

uint64_t next_random() {
  uint64_t& x = machine().random;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return x >> 11;
}

void seed(uint64_t value) { machine().random = value * 0x9e3779b97f4a7c15u | 1; }

void set_capability(int major) { machine().capability = major; }
int capability() { return machine().capability; }
size_t max_shared_bytes() {
  return std::min(machine().shared_limit, size_t(machine().capability >= 9 ? 227 : 163) * 1024);
}
void limit_shared_bytes(size_t limit) { machine().shared_limit = limit; }

void expect_launch(const Grid& call, int cluster) {
  const auto& [name, how, grid, block, shared_bytes, stream] = call;
  const uint64_t threads = uint64_t(block.x) * block.y * block.z;
  if (threads < 1 || threads > 1024) fault("%s: a block of %llu threads.", name, (unsigned long long)threads);
  if (grid.y > 65535 || grid.z > 65535 || grid.x > 0x7fffffffu) fault("%s: a grid of (%u, %u, %u).", name, grid.x, grid.y, grid.z);
  if (shared_bytes > max_shared_bytes()) {
    fault("%s: %zu bytes of shared memory; a block has %zu.", name, shared_bytes, max_shared_bytes());
  }
  if (cluster < 1 || cluster > 8 || grid.x % unsigned(cluster) || (cluster > 1 && capability() < 9)) {
    fault("%s: clusters of %d in a grid of %u on a device of capability %d.", name, cluster, grid.x, capability());
  }
  if (machine().current) fault("%s: launched from a kernel.", name);
}

}  // namespace hone::cuda_shim
