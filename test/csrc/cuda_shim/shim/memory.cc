// Dynamic shared memory of the current block and of other blocks of its cluster, and copies into it.
#include <cstring>
#include <utility>

#include "shim/machine_state.h"
#include "shim/static_shared.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

namespace hone::cuda_shim {
namespace {

constexpr size_t kGuard = 128;

unsigned char* shared_begin() {
  const auto at = reinterpret_cast<uintptr_t>(machine().blocks[size_t(machine().block)].shared.data()) + kGuard;
  return reinterpret_cast<unsigned char*>((at + 127) / 128 * 128);
}

}  // namespace

void prepare_shared(size_t bytes) {
  Machine& m = machine();
  std::vector<unsigned char>& shared = m.blocks[size_t(m.block)].shared;
  ASAN_UNPOISON_MEMORY_REGION(shared.data(), shared.size());
  shared.assign(bytes + 2 * kGuard + 128, kPoison);
  m.shared_bytes = bytes;
  unsigned char* begin = shared_begin();
  ASAN_POISON_MEMORY_REGION(begin - kGuard, kGuard);
  ASAN_POISON_MEMORY_REGION(begin + bytes, kGuard);
}

void expect_guards() {
  Machine& m = machine();
  unsigned char* begin = shared_begin();
  const std::vector<unsigned char>& shared = m.blocks[size_t(m.block)].shared;
  ASAN_UNPOISON_MEMORY_REGION(shared.data(), shared.size());
  for (size_t i = 0; i < kGuard; ++i) {
    if (begin[-1 - std::ptrdiff_t(i)] != kPoison || begin[m.shared_bytes + i] != kPoison) {
      fault("%s: wrote outside its %zu bytes of dynamic shared memory.", m.kernel, m.shared_bytes);
    }
  }
}

void in_peer(int rank, const std::function<void()>& work) {
  Machine& m = machine();
  if (rank < 0 || rank >= m.cluster()) fault("%s: block %d of a cluster of %d.", m.kernel, rank, m.cluster());
  const bool left = m.thread(rank, 0).state == State::kDone;
  if (!m.blocks[size_t(rank)].begun || left) {
    fault("%s: looks at the memory of a block that %s.", m.kernel, left ? "has left" : "may not have begun");
  }
  const int mine = std::exchange(m.block, rank);
  work();
  m.block = mine;
}

const void* peer_shared(const void* p, size_t bytes, int rank) {
  Machine& m = machine();
  const auto* at = static_cast<const unsigned char*>(p);
  if (at < shared_begin() || at + bytes > shared_begin() + m.shared_bytes || reinterpret_cast<uintptr_t>(p) % bytes) {
    fault("%s: a peer's memory at a place that is not in dynamic shared memory, or misaligned.", m.kernel);
  }
  const void* there = nullptr;
  in_peer(rank, [&, offset = at - shared_begin()] { there = shared_begin() + offset; });
  return there;
}

void* dynamic_shared() { return shared_begin(); }
size_t dynamic_shared_bytes() { return machine().shared_bytes; }

void expect_shared(const void* p, size_t bytes, const char* what) {
  const auto* at = static_cast<const unsigned char*>(p);
  const bool dynamic = at >= shared_begin() && at + bytes <= shared_begin() + machine().shared_bytes;
  if (!dynamic && !in_static_shared(at, bytes)) fault("%s: %s outside shared memory.", machine().kernel, what);
  if (reinterpret_cast<uintptr_t>(p) % bytes) fault("%s: %s of a misaligned address.", machine().kernel, what);
}

void async_copy16(void* shared, const void* global, bool valid) {
  expect_shared(shared, 16, "cp.async");
  if (valid && reinterpret_cast<uintptr_t>(global) % 16) fault("%s: cp.async of a misaligned source.", machine().kernel);
  std::memset(shared, kPoison, 16);
  machine().current->copies.push_back({shared, global, valid});
}

void async_commit() {
  Thread& me = *machine().current;
  me.groups.push_back(me.copies.size());
}

void async_wait(int groups_left) {
  std::vector<Copy>& copies = machine().current->copies;
  std::vector<size_t>& groups = machine().current->groups;
  const auto over = std::ptrdiff_t(groups.size()) - groups_left;
  if (over <= 0) return;
  const size_t until = groups[size_t(over - 1)];
  for (size_t i = 0; i < until; ++i) {
    if (copies[i].valid) std::memcpy(copies[i].to, copies[i].from, 16);
    else std::memset(copies[i].to, 0, 16);
  }
  copies.erase(copies.begin(), copies.begin() + std::ptrdiff_t(until));
  groups.erase(groups.begin(), groups.begin() + over);
  for (size_t& end : groups) end -= until;
}

}  // namespace hone::cuda_shim
