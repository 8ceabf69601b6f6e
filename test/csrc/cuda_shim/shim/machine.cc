#include "shim/machine.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include "shim/hopper.h"
#include "shim/machine_state.h"
#include "shim/static_shared.h"

namespace hone::cuda_shim {
namespace {

/// Compares pointers first, since most often both are the same literal: comparing characters took a third of
/// the time under the address sanitizer.
bool same_text(const char* a, const char* b) { return a == b || !std::strcmp(a, b); }

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

/// Makes `block` the current block: static shared memory and asynchronous units are then those of that block.
void enter_block(int block) {
  Machine& m = machine();
  if (block == m.block) return;
  save_static_shared(m.blocks[size_t(m.block)].statics);
  m.block = block;
  load_static_shared(m.blocks[size_t(block)].statics);
  blockIdx = m.blocks[size_t(block)].index;
}

void resume(Thread& t) {
  Machine& m = machine();
  if (m.cluster() > 1) enter_block(t.block);
  m.current = &t;
  threadIdx = t.index;
  t.fiber.resume();
  m.current = nullptr;
  if (m.failure) std::rethrow_exception(m.failure);
}

bool can_run(const Thread& t) {
  if (t.state != State::kUntil) return t.state == State::kReady;
  if (machine().cluster() > 1) enter_block(t.block);
  return (*t.until)();
}

/// Number of warps in a block.
int block_warps() { return (machine().count + 31) / 32; }

/// Runs each ready lane of a warp (numbered over the cluster) once, in random order. Returns whether any lane
/// ran.
bool run_warp(int warp) {
  Machine& m = machine();
  const int warps = block_warps(), first = warp % warps * 32;
  const std::unique_ptr<Thread>* const threads = &m.threads[size_t(warp / warps * m.count)];
  if (!m.blocks[size_t(warp / warps)].begun) return false;
  const uint64_t r = next_random();
  const unsigned start = unsigned(r) % 32, stride = unsigned(r >> 8) | 1;
  bool ran = false;
  for (unsigned i = 0; i < 32; ++i) {
    const int number = first + int((start + i * stride) % 32);
    if (number >= m.count || !can_run(*threads[number])) continue;
    resume(*threads[number]);
    ran = true;
  }
  return ran;
}

/// A lane that `t` waits for and that will never arrive.
const Thread& absentee(const Thread& t) {
  Machine& m = machine();
  for (int i = 0; i < 32; ++i) {
    const Thread& other = m.thread(t.block, t.warp() * 32 + i);
    if ((t.mask >> i & 1) && (other.state != State::kWarp || other.line != t.line)) return other;
  }
  return t;
}

/// A lane of t's warp.
Thread& lane_of(const Thread& t, int lane) { return machine().thread(t.block, t.warp() * 32 + lane); }

/// t's warp; the machine's list has the warps of the whole cluster.
Warp& warp_of(const Thread& t) { return machine().warps[size_t(t.block * block_warps() + t.warp())]; }

/// Whether the thread's warp has every lane of the mask.
bool reaches(const Thread& t, unsigned mask) { return t.warp() * 32 + int(std::bit_width(mask)) <= machine().count; }

/// Whether both threads wait in the same collective, for the same lanes.
bool same_call(const Thread& a, const Thread& b) {
  return a.mask == b.mask && a.line == b.line && same_text(a.file, b.file) && same_text(a.what, b.what);
}

/// Collects what each lane in me.mask has passed. Returns false if a lane has not arrived yet; a Fault if one
/// never will.
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
  return std::any_of(m.threads.begin(), m.threads.begin() + m.cluster() * m.count,
                     [](const auto& t) { return t->state == State::kUntil; });
}

/// Called when every thread of the block waits or has ended. Returns the state that they share, or faults.
State agreed_state(int block) {
  Machine& m = machine();
  const Thread& first = m.thread(block, 0);
  for (int i = 0; i < m.count; ++i) {
    const Thread& t = m.thread(block, i);
    const bool same = t.state == first.state && t.line == first.line && same_text(t.file, first.file) &&
                      same_text(t.what, first.what);
    if (t.state == State::kUntil) fault("%s: waits for ever: %s.", m.kernel, place(t).c_str());
    if (t.state == State::kWarp) fault("%s: lanes part: %s, %s.", m.kernel, place(t).c_str(), place(absentee(t)).c_str());
    if (!same && !(t.state == State::kDone && first.state == State::kDone)) {
      fault("%s: threads part: %s, %s.", m.kernel, place(first).c_str(), place(t).c_str());
    }
  }
  return first.state;
}

void open_block(int block) {
  Machine& m = machine();
  int predicates = 0;
  for (int i = 0; i < m.count; ++i) predicates += m.thread(block, i).predicate != 0;
  m.blocks[size_t(block)].arrived = predicates;
  for (int i = 0; i < m.count; ++i) m.thread(block, i).state = State::kReady;
}

/// Called when no thread can run. Lets one block continue that waits at its own barrier or has not begun, so
/// that blocks drift apart as far as possible. If there is none, lets all blocks continue, which must be
/// waiting at the cluster's barrier. Returns false when all blocks have ended.
bool open_barriers() {
  Machine& m = machine();
  std::vector<int> may_go;
  int done = 0;
  for (int b = 0; b < m.cluster(); ++b) {
    const State state = m.blocks[size_t(b)].begun ? agreed_state(b) : State::kBlock;
    done += state == State::kDone;
    if (state == State::kBlock) may_go.push_back(b);
  }
  if (!may_go.empty()) {
    const int b = may_go.size() == 1 ? may_go[0] : may_go[next_random() % may_go.size()];
    if (m.blocks[size_t(b)].begun) open_block(b);
    m.blocks[size_t(b)].begun = true;
    return true;
  }
  if (done == m.cluster()) return false;
  const Thread& first = m.thread(0, 0);
  for (int b = 0; b < m.cluster(); ++b) {
    const Thread& t = m.thread(b, 0);
    if (t.state == State::kCluster && t.line == first.line && same_text(t.file, first.file)) continue;
    fault("%s: blocks of a cluster part: of block 0 %s, of block %d %s.", m.kernel, place(first).c_str(), b, place(t).c_str());
  }
  for (int b = 0; b < m.cluster(); ++b) open_block(b);
  return true;
}

/// Completes one asynchronous copy or product of some block; returns false if there is none.
bool some_async_step() {
  Machine& m = machine();
  const int start = m.cluster() == 1 ? 0 : int(next_random() % uint64_t(m.cluster()));
  for (int i = 0; i < m.cluster(); ++i) {
    enter_block((start + i) % m.cluster());
    if (async_step()) return true;
  }
  return false;
}

/// Called when no block can run further ahead: shows the writes of the preceding kernel. Before that, a block
/// that has not begun may begin.
bool end_of_predecessor() {
  Machine& m = machine();
  if (!m.ahead) return false;
  for (Block& block : m.blocks) {
    if (!block.begun && next_random() & 1) return block.begun = true;
  }
  while (next_random() & 7 && some_async_step()) {
  }
  show_in_front(false);
  for (int i = 0; i < m.cluster() * m.count; ++i) {
    if (m.threads[size_t(i)]->state == State::kPredecessor) m.threads[size_t(i)]->state = State::kReady;
  }
  return true;
}

void begin_cluster(uint3 first) {
  Machine& m = machine();
  poison_static_shared(kPoison);
  m.warps.assign(size_t(block_warps() * m.cluster()), {});
  for (int b = 0; b < m.cluster(); ++b) {
    Block& block = m.blocks[size_t(b)];
    blockIdx = block.index = {first.x + unsigned(b), first.y, first.z};
    block.begun = m.cluster() == 1 || next_random() & 1;
    if (m.cluster() > 1) save_static_shared(block.statics);
    m.block = b;
    prepare_shared(m.shared_bytes);
    for (int i = 0; i < m.count; ++i) {
      Thread& t = m.thread(b, i);
      t.state = State::kReady;
      t.awaited = false;
      t.copies.clear();
      t.groups.clear();
      t.fiber.start(&m.entry);
    }
    begin_async();
  }
}

/// Runs the cluster whose first block is `first`.
void run_cluster(uint3 first) {
  begin_cluster(first);
  if (!machine().in_front.empty()) show_in_front(true);
  std::vector<int> order(static_cast<size_t>(block_warps() * machine().cluster()));
  std::iota(order.begin(), order.end(), 0);
  do {
    for (bool ran = true; ran;) {
      ran = false;
      // With probability 1/2 a warp runs as far ahead of the others as it can.
      const bool greedy = next_random() & 1;
      for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[next_random() % i]);
      for (const int warp : order) {
        while (run_warp(warp)) {
          ran = true;
          if (!greedy) break;
        }
      }
      // Asynchronous copies and products complete at random times, or when no thread can run and one waits
      // for them.
      for (uint64_t n = next_random() % 4; n > 0 && some_async_step(); --n) ran = true;
      if (!ran && somebody_waits_until()) ran = some_async_step();
    }
  } while (end_of_predecessor() || open_barriers());
  for (int b = 0; b < machine().cluster(); ++b) {
    enter_block(b);
    end_async();
    expect_guards();
  }
}

void prepare_threads(int cluster, dim3 block) {
  Machine& m = machine();
  m.count = int(block.x * block.y * block.z);
  m.blocks.resize(size_t(cluster));
  while (int(m.threads.size()) < cluster * m.count) m.threads.push_back(std::make_unique<Thread>());
  for (int b = 0; b < cluster; ++b) {
    for (int i = 0; i < m.count; ++i) {
      Thread& t = m.thread(b, i);
      t.block = b;
      t.number = i;
      t.index = {unsigned(i) % block.x, unsigned(i) / block.x % block.y, unsigned(i) / block.x / block.y};
    }
  }
}

}  // namespace

Machine the_machine;

bool in_kernel() { return machine().current != nullptr; }

void run_grid(const Grid& call, const std::function<void()>& thread) {
  const auto& [name, how, grid, block, shared_bytes, stream] = call;
  const int cluster = std::max(how.cluster, 1);
  Machine& m = machine();
  const DeviceAccess open;
  const std::lock_guard lock(m.turn);
  expect_launch(call, cluster);
  m.early = how.early && capability() >= 9, m.ahead = false;
  m.in_front = m.early && m.changed_on == stream ? std::exchange(m.changes, {}) : std::vector<Change>{};
  m.changes.clear();
  if (!note_launch(name, m.early)) return;
  m.kernel = name;
  m.shared_bytes = shared_bytes;
  m.failure = nullptr;
  m.entry = [&] {
    try {
      thread();
      if (m.early && !m.current->awaited) fault("%s: a thread leaves without waiting for the kernel in front.", m.kernel);
    } catch (...) {
      m.failure = std::current_exception();
    }
    m.current->state = State::kDone;
    warp_of(*m.current).done |= 1u << m.current->lane();
  };
  gridDim = grid;
  blockDim = block;
  prepare_threads(cluster, block);
  std::vector<Change> before = global_memory();
  const auto across = grid.x / unsigned(cluster);
  std::vector<uint32_t> clusters(size_t(across) * grid.y * grid.z);
  std::iota(clusters.begin(), clusters.end(), 0u);
  for (size_t i = clusters.size(); i > 1; --i) std::swap(clusters[i - 1], clusters[next_random() % i]);
  for (const uint32_t c : clusters) run_cluster({c % across * unsigned(cluster), c / across % grid.y, c / across / grid.y});
  m.changes = changes_since(std::move(before));
  m.changed_on = stream;
}

int block_barrier(int predicate, const char* what, const char* file, int line) {
  Thread& me = *machine().current;
  me.predicate = predicate;
  wait(State::kBlock, what, file, line);
  me.fiber.yield();
  return machine().blocks[size_t(me.block)].arrived;
}

void cluster_barrier(const char* file, int line) {
  wait(State::kCluster, "a barrier of the cluster", file, line);
  machine().current->fiber.yield();
}

void await_predecessor(const char* file, int line) {
  Thread& me = *machine().current;
  me.awaited = true;
  if (!machine().ahead) return;
  wait(State::kPredecessor, "a wait for the kernel in front", file, line);
  me.fiber.yield();
}

int cluster_rank() { return machine().block; }

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
  Warp& warp = warp_of(me);
  const unsigned before = warp.waiting & mask;
  warp.waiting |= 1u << me.lane();
  // Every lane checks only one other lane; the last to arrive, or one that finds a mismatch, checks all.
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

}  // namespace hone::cuda_shim
