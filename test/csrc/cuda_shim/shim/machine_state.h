// State of the simulated GPU (the machine), shared by the files that implement it.
#pragma once

#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "shim/fiber.h"
#include "shim/machine.h"

namespace hone::cuda_shim {

constexpr unsigned char kPoison = 0xff;  // NaN as f32 and as bf16, -1 as an integer

enum class State { kReady, kBlock, kCluster, kWarp, kUntil, kPredecessor, kDone };

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
  int block = 0;   // within the cluster
  bool awaited = false;  // whether it has waited for the preceding kernel
  // where and for what it waits
  const char *what = "", *file = "";
  int line = 0, predicate = 0;
  unsigned mask = 0;
  void* mine = nullptr;
  const std::function<bool()>* until = nullptr;
  std::vector<Copy> copies;    // started and not yet waited for
  std::vector<size_t> groups;  // for each group not yet waited for: number of copies at its commit

  int lane() const { return number % 32; }
  int warp() const { return number / 32; }
};

/// The state of a warp's lanes, one bit per lane.
struct Warp {
  unsigned waiting = 0;  // lanes that wait in a collective
  unsigned done = 0;     // lanes that have exited
};

/// One block of the running cluster.
struct Block {
  uint3 index{};
  // statics: static shared memory, stored here while another block runs
  std::vector<unsigned char> shared, statics;
  bool begun = true;
  int arrived = 0;  // number of non-zero predicates at the last barrier
};

/// Bytes that a kernel has changed. `others` holds their old values or, while memory shows the old values,
/// the new ones.
struct Change {
  unsigned char* at;
  std::vector<unsigned char> others;
};

struct Machine {
  std::recursive_mutex turn;  // held while a grid runs: a process runs one grid at a time
  std::vector<std::unique_ptr<Thread>> threads;
  std::vector<Warp> warps;
  int count = 0;  // threads in a block
  std::vector<Block> blocks;
  int block = 0;  // index of the current block
  int cluster() const { return int(blocks.size()); }
  Thread& thread(int of, int number) { return *threads[size_t(of * count + number)]; }
  Thread* current = nullptr;
  std::function<void()> entry;
  std::exception_ptr failure;
  const char* kernel = "";
  size_t shared_bytes = 0;
  uint64_t random = 0x9e3779b97f4a7c15u;
  int capability = std::getenv("HONE_SHIM_CAPABILITY") ? std::atoi(std::getenv("HONE_SHIM_CAPABILITY")) : 8;
  size_t shared_limit = ~size_t(0);
  LaunchLog* log = nullptr;
  // the kernel was launched early; memory is as it was before the preceding kernel
  bool early = false, ahead = false;
  std::vector<Change> in_front, changes;  // changes by the preceding kernel, and by the last kernel that ran
  void* changed_on = nullptr;  // the stream on which the last kernel ran
};

extern Machine the_machine;
inline Machine& machine() { return the_machine; }

/// Faults if a real device would refuse the launch.
void expect_launch(const Grid& call, int cluster);

/// Copies all allocated global memory; returns nothing unless kernels run ahead (run_ahead).
std::vector<Change> global_memory();
/// The differences between global memory now and `before`, a result of global_memory().
std::vector<Change> changes_since(std::vector<Change> before);
/// Shows memory as it was before the preceding kernel (true), or as that kernel left it (false).
void show_in_front(bool before);

/// prepare_shared sets up dynamic shared memory when a block begins; expect_guards faults, when it ends, if
/// it wrote outside.
void prepare_shared(size_t bytes);
void expect_guards();

}  // namespace hone::cuda_shim
