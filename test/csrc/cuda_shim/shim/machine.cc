#include "shim/machine.h"

#include <algorithm>
#include <bit>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include "shim/fiber.h"
#include "shim/hopper.h"
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
constexpr unsigned char kPoison = 0xff;  // NaN as f32 and as bf16, -1 as an integer

enum class State { kReady, kBlock, kWarp, kUntil, kDone };

struct Copy {
  void* to;
  const void* from;
  bool valid;
};

/// One CUDA thread.
struct Thread {
  Fiber fiber;
  State state = State::kReady;
  uint3 index{};
  int number = 0;  // within the block
  // where and why it waits
  const char *what = "", *file = "";
  int line = 0, predicate = 0;
  unsigned mask = 0;
  void* mine = nullptr;
  const std::function<bool()>* until = nullptr;
  std::vector<std::vector<Copy>> copies;  // groups, the last one open

  int lane() const { return number % 32; }
  int warp() const { return number / 32; }
};

/// Lanes of a warp, a bit each.
struct Warp {
  unsigned waiting = 0;  // in a collective
  unsigned done = 0;     // have left the kernel
};

struct Machine {
  std::recursive_mutex turn;  // one grid at a time in a process
  std::vector<std::unique_ptr<Thread>> threads;
  std::vector<Warp> warps;
  int count = 0;  // of threads in a block
  Thread* current = nullptr;
  std::function<void()> entry;
  std::exception_ptr failure;
  const char* kernel = "";
  int arrived = 0;  // predicates of the last block barrier
  std::vector<unsigned char> shared;
  size_t shared_bytes = 0;
  uint64_t random = 0x9e3779b97f4a7c15u;
  int capability = std::getenv("HONE_SHIM_CAPABILITY") ? std::atoi(std::getenv("HONE_SHIM_CAPABILITY")) : 8;
  size_t shared_limit = ~size_t(0);
};

Machine& machine() {
  static Machine m;
  return m;
}

/// Mostly the same literal: comparing letters was a third of the machine's time under ASan.
bool same_text(const char* a, const char* b) { return a == b || !std::strcmp(a, b); }

unsigned char* shared_begin() {
  const auto at = reinterpret_cast<uintptr_t>(machine().shared.data()) + kGuard;
  return reinterpret_cast<unsigned char*>((at + 127) / 128 * 128);
}

void prepare_shared(size_t bytes) {
  Machine& m = machine();
  ASAN_UNPOISON_MEMORY_REGION(m.shared.data(), m.shared.size());
  m.shared.assign(bytes + 2 * kGuard + 128, kPoison);
  m.shared_bytes = bytes;
  unsigned char* begin = shared_begin();
  ASAN_POISON_MEMORY_REGION(begin - kGuard, kGuard);
  ASAN_POISON_MEMORY_REGION(begin + bytes, kGuard);
}

void expect_guards() {
  Machine& m = machine();
  unsigned char* begin = shared_begin();
  ASAN_UNPOISON_MEMORY_REGION(m.shared.data(), m.shared.size());
  for (size_t i = 0; i < kGuard; ++i) {
    if (begin[-1 - std::ptrdiff_t(i)] != kPoison || begin[m.shared_bytes + i] != kPoison) {
      fault("%s: wrote outside its %zu bytes of dynamic shared memory.", m.kernel, m.shared_bytes);
    }
  }
}

std::string place(const Thread& t) {
  char text[256];
  std::snprintf(text, sizeof text, "thread %d waits in %s at %s:%d", t.number, t.what, t.file, t.line);
  return t.state == State::kDone ? "thread " + std::to_string(t.number) + " has left the kernel" : text;
}

void wait(State state, const char* what, const char* file, int line) {
  Thread& me = *machine().current;
  me.state = state;
  me.what = what;
  me.file = file;
  me.line = line;
}

void resume(Thread& t) {
  Machine& m = machine();
  m.current = &t;
  threadIdx = t.index;
  t.fiber.resume();
  m.current = nullptr;
  if (m.failure) std::rethrow_exception(m.failure);
}

bool can_run(const Thread& t) { return t.state == State::kReady || (t.state == State::kUntil && (*t.until)()); }

/// Each ready lane of a warp once, in an order of its own; whether there was one.
bool run_warp(int warp) {
  Machine& m = machine();
  const uint64_t r = next_random();
  const unsigned start = unsigned(r) % 32, stride = unsigned(r >> 8) | 1;
  bool ran = false;
  for (unsigned i = 0; i < 32; ++i) {
    const int number = warp * 32 + int((start + i * stride) % 32);
    if (number >= m.count || !can_run(*m.threads[size_t(number)])) continue;
    resume(*m.threads[size_t(number)]);
    ran = true;
  }
  return ran;
}

/// A lane that `t` waits for in vain.
const Thread& absentee(const Thread& t) {
  Machine& m = machine();
  for (int i = 0; i < 32; ++i) {
    const Thread& other = *m.threads[size_t(t.warp() * 32 + i)];
    if ((t.mask >> i & 1) && (other.state != State::kWarp || other.line != t.line)) return other;
  }
  return t;
}

/// The lane of the thread's own warp.
Thread& lane_of(const Thread& t, int lane) { return *machine().threads[size_t(t.warp() * 32 + lane)]; }

/// Whether the block has every lane of the mask in the thread's warp.
bool reaches(const Thread& t, unsigned mask) { return t.warp() * 32 + int(std::bit_width(mask)) <= machine().count; }

/// Whether both wait in the same collective, for the same lanes.
bool same_call(const Thread& a, const Thread& b) {
  return a.mask == b.mask && a.line == b.line && same_text(a.file, b.file) && same_text(a.what, b.what);
}

/// What every lane that `me` names has brought; false if some are still to come. Throws Fault if one never will.
bool gather(const Thread& me, void** lanes) {
  Machine& m = machine();
  bool all = true;
  for (int i = 0; i < 32; ++i) {
    if (!(me.mask >> i & 1)) continue;
    if (me.warp() * 32 + i >= m.count) fault("%s: %s names lane %d, which the block does not have.", m.kernel, me.what, i);
    const Thread& other = lane_of(me, i);
    if (other.state == State::kDone) {
      fault("%s: %s at %s:%d names lane %d, which has left the kernel.", m.kernel, me.what, me.file, me.line, i);
    }
    all &= other.state == State::kWarp;
    if (other.state != State::kWarp) continue;
    if (!same_call(me, other)) {
      fault("%s: lanes of a warp part: %s, %s.", m.kernel, place(me).c_str(), place(other).c_str());
    }
    lanes[i] = other.mine;
  }
  return all;
}

bool somebody_waits_until() {
  const Machine& m = machine();
  return std::any_of(m.threads.begin(), m.threads.begin() + m.count,
                     [](const auto& t) { return t->state == State::kUntil; });
}

/// Everybody waits or is done: opens the block barrier, or says who stands where. False at the end of the block.
bool open_barrier() {
  Machine& m = machine();
  const Thread& first = *m.threads[0];
  int predicates = 0;
  for (int i = 0; i < m.count; ++i) {
    const Thread& t = *m.threads[size_t(i)];
    const bool same = t.state == first.state && t.line == first.line && same_text(t.file, first.file) &&
                      same_text(t.what, first.what);
    if (t.state == State::kUntil) fault("%s: waits for ever: %s.", m.kernel, place(t).c_str());
    if (t.state == State::kWarp) fault("%s: lanes part: %s, %s.", m.kernel, place(t).c_str(), place(absentee(t)).c_str());
    if (!same && !(t.state == State::kDone && first.state == State::kDone)) {
      fault("%s: threads part: %s, %s.", m.kernel, place(first).c_str(), place(t).c_str());
    }
    predicates += t.predicate != 0;
  }
  if (first.state == State::kDone) return false;
  m.arrived = predicates;
  for (int i = 0; i < m.count; ++i) m.threads[size_t(i)]->state = State::kReady;
  return true;
}

void run_block(uint3 index) {
  Machine& m = machine();
  blockIdx = index;
  poison_static_shared(kPoison);
  prepare_shared(m.shared_bytes);
  for (int i = 0; i < m.count; ++i) {
    Thread& t = *m.threads[size_t(i)];
    t.state = State::kReady;
    t.copies.assign(1, {});
    t.fiber.start(&m.entry);
  }
  begin_async();
  m.warps.assign(size_t(m.count + 31) / 32, {});
  std::vector<int> order(m.warps.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    for (bool ran = true; ran;) {
      ran = false;
      // Half of the time a warp runs as far ahead of the others as it can.
      const bool greedy = next_random() & 1;
      for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[next_random() % i]);
      for (const int warp : order) {
        while (run_warp(warp)) {
          ran = true;
          if (!greedy) break;
        }
      }
      // What runs beside the threads gets on by itself, but no further than somebody waits for.
      for (uint64_t n = next_random() % 4; n > 0 && async_step(); --n) ran = true;
      if (!ran && somebody_waits_until()) ran = async_step();
    }
  } while (open_barrier());
  end_async();
  expect_guards();
}

void prepare_threads(dim3 block) {
  Machine& m = machine();
  m.count = int(block.x * block.y * block.z);
  while (int(m.threads.size()) < m.count) m.threads.push_back(std::make_unique<Thread>());
  for (int i = 0; i < m.count; ++i) {
    Thread& t = *m.threads[size_t(i)];
    t.number = i;
    t.index = {unsigned(i) % block.x, unsigned(i) / block.x % block.y, unsigned(i) / block.x / block.y};
  }
}

void expect_launch(const char* name, dim3 grid, dim3 block, size_t shared_bytes) {
  const uint64_t threads = uint64_t(block.x) * block.y * block.z;
  if (threads < 1 || threads > 1024) fault("%s: a block of %llu threads.", name, (unsigned long long)threads);
  if (grid.y > 65535 || grid.z > 65535 || grid.x > 0x7fffffffu) fault("%s: a grid of (%u, %u, %u).", name, grid.x, grid.y, grid.z);
  if (shared_bytes > max_shared_bytes()) {
    fault("%s: %zu bytes of shared memory; a block has %zu.", name, shared_bytes, max_shared_bytes());
  }
  if (machine().current) fault("%s: launched from a kernel.", name);
}

}  // namespace

void fault(const char* format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
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

bool in_kernel() { return machine().current != nullptr; }

void run_grid(const char* name, dim3 grid, dim3 block, size_t shared_bytes, const std::function<void()>& thread) {
  Machine& m = machine();
  const DeviceAccess open;
  const std::lock_guard lock(m.turn);
  expect_launch(name, grid, block, shared_bytes);
  m.kernel = name;
  m.shared_bytes = shared_bytes;
  m.failure = nullptr;
  m.entry = [&] {
    try {
      thread();
    } catch (...) {
      m.failure = std::current_exception();
    }
    m.current->state = State::kDone;
    m.warps[size_t(m.current->warp())].done |= 1u << m.current->lane();
  };
  gridDim = grid;
  blockDim = block;
  prepare_threads(block);
  std::vector<uint32_t> blocks(size_t(grid.x) * grid.y * grid.z);
  std::iota(blocks.begin(), blocks.end(), 0u);
  for (size_t i = blocks.size(); i > 1; --i) std::swap(blocks[i - 1], blocks[next_random() % i]);
  for (const uint32_t b : blocks) run_block({b % grid.x, b / grid.x % grid.y, b / grid.x / grid.y});
}

int block_barrier(int predicate, const char* what, const char* file, int line) {
  Thread& me = *machine().current;
  me.predicate = predicate;
  wait(State::kBlock, what, file, line);
  me.fiber.yield();
  return machine().arrived;
}

void wait_until(const std::function<bool()>& ready, const char* what, const char* file, int line) {
  Thread& me = *machine().current;
  if (ready()) return;
  me.until = &ready;
  wait(State::kUntil, what, file, line);
  me.fiber.yield();
  me.state = State::kReady;
}

int thread_number() { return machine().current->number; }
int thread_count() { return machine().count; }
const char* kernel_name() { return machine().kernel; }

int lane_index() { return machine().current->lane(); }

void warp_collective(unsigned mask, Collective run, void* mine, const char* what, const char* file, int line) {
  Machine& m = machine();
  Thread& me = *m.current;
  if (!(mask >> me.lane() & 1)) fault("%s: lane %d calls %s with a mask it is not in.", m.kernel, me.lane(), what);
  me.mask = mask;
  me.mine = mine;
  wait(State::kWarp, what, file, line);
  Warp& warp = m.warps[size_t(me.warp())];
  const unsigned before = warp.waiting & mask;
  warp.waiting |= 1u << me.lane();
  // Every lane looks at one other; only the last one, or one that finds something wrong, looks at them all.
  const bool agrees = before == 0 || same_call(me, lane_of(me, std::countr_zero(before)));
  if (agrees && !(mask & warp.done) && (warp.waiting & mask) != mask && reaches(me, mask)) return me.fiber.yield();
  void* lanes[32] = {};
  if (!gather(me, lanes)) return me.fiber.yield();
  run(lanes, mask);
  warp.waiting &= ~mask;
  for (int i = 0; i < 32; ++i) {
    if (mask >> i & 1) lane_of(me, i).state = State::kReady;
  }
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
  machine().current->copies.back().push_back({shared, global, valid});
}

void async_commit() { machine().current->copies.emplace_back(); }

void async_wait(int groups_left) {
  auto& groups = machine().current->copies;
  while (int(groups.size()) - 1 > groups_left) {
    for (const Copy& c : groups.front()) {
      if (c.valid) std::memcpy(c.to, c.from, 16);
      else std::memset(c.to, 0, 16);
    }
    groups.erase(groups.begin());
  }
}

}  // namespace hone::cuda_shim
