// The machine that runs kernels on the host: a block's threads are fibers on one host thread; blocks (or
// clusters) run one at a time.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "shim/types.h"

namespace hone::cuda_shim {

/// A bug in a kernel or its launch, for which a real GPU would fail or give wrong results.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};
[[noreturn]] void fault(const char* format, ...) __attribute__((format(printf, 1, 2)));

/// Seed of the random orders in which blocks, warps and lanes run.
void seed(uint64_t value);
uint64_t next_random();

/// Sets the compute capability that the shim reports: 8.0 unless a test, or HONE_SHIM_CAPABILITY=9, sets 9.0.
/// With 9.0 Hopper's instructions work too (hopper.h), and a block may have as much shared memory as on a
/// Hopper.
void set_capability(int major);
int capability();
/// Shared memory that a block may have; limit_shared_bytes lowers it, to model the smaller chips of 8.x,
/// which have 99 KB.
size_t max_shared_bytes();
void limit_shared_bytes(size_t limit);

/// Launch attributes; equal to those in core/cuda/launch.cuh.
struct Launch {
  int cluster = 0;
  bool early = false;
};

/// One launch of a kernel.
struct Grid {
  const char* name;
  Launch how;
  dim3 grid, block;
  size_t shared_bytes;
  void* stream;
};
/// Calls `thread` once for every CUDA thread of the grid. Throws the first Fault. Blocks of a cluster run
/// concurrently.
void run_grid(const Grid& call, const std::function<void()>& thread);
/// Whether the caller runs as a CUDA thread.
bool in_kernel();

/// While an object exists, it records the name of every kernel in launch order (with a + if launched early),
/// and "copy" for every copy and fill on the device. With `run` false, none of them is executed. Only one log
/// may exist at a time.
class LaunchLog {
 public:
  explicit LaunchLog(bool run = true);
  ~LaunchLog();
  LaunchLog(const LaunchLog&) = delete;
  std::vector<std::string> names;
  const bool run;
};
/// Called first by every launch: adds the kernel to the log, and returns whether to run it.
bool note_launch(const char* name, bool early = false);

/// Waits for all threads of the block; returns how many passed a non-zero predicate.
int block_barrier(int predicate, const char* what, const char* file, int line);

/// Waits for the preceding kernel. A thread of a kernel launched early that ends without this wait is a
/// Fault.
void await_predecessor(const char* file, int line);
/// Turns on running ahead: until its wait, a kernel launched early runs on memory as it was before the
/// preceding kernel on its stream, so that what it reads too early is old, and what it writes is lost. This
/// holds for any preceding kernel: one that never allows its successor to start does so by ending, before its
/// writes are flushed.
void run_ahead(bool on);

/// Waits for all threads of the cluster's blocks.
void cluster_barrier(const char* file, int line);
int cluster_rank();  // the current block's rank in its cluster
/// Calls `work` with block `rank` of the cluster as the current block. A Fault if that block may not have
/// begun, or may have ended.
void in_peer(int rank, const std::function<void()>& work);
/// The address in block `rank`'s dynamic shared memory that corresponds to [p, p + bytes) in this block's.
const void* peer_shared(const void* p, size_t bytes, int rank);

/// Called by each lane in `mask`; the last to arrive calls `run` for all of them, where lanes[i] is the
/// `mine` of lane i.
using Collective = void (*)(void* const* lanes, unsigned mask);
void warp_collective(unsigned mask, Collective run, void* mine, const char* what, const char* file, int line);
int lane_index();

/// Suspends this thread until ready() returns true; ready() is called whenever the thread could run. A Fault
/// if it never returns true.
void wait_until(const std::function<bool()>& ready, const char* what, const char* file, int line);
int thread_number();  // of the caller within its block
int thread_count();
const char* kernel_name();

/// This block's dynamic shared memory. It is filled with NaN at the start of every block, and guarded on both
/// sides.
void* dynamic_shared();
size_t dynamic_shared_bytes();
/// Faults unless [p, p + bytes) is shared memory and p is a multiple of bytes.
void expect_shared(const void* p, size_t bytes, const char* what);

/// Executes cp.async: fills the destination with NaN; the bytes arrive when the wait returns.
void async_copy16(void* shared, const void* global, bool valid);
void async_commit();
void async_wait(int groups_left);

/// Makes global memory accessible while an object exists. Only kernels and copies create one; otherwise the
/// pages of global memory are protected.
struct DeviceAccess {
  DeviceAccess();
  ~DeviceAccess();
  DeviceAccess(const DeviceAccess&) = delete;
};
bool is_device_pointer(const void* p);

/// Registers `wait`, which is called before a stream is given work, and before the host waits for the stream
/// (`by_host`). It must return when the work that other code than the shim (the NCCL stand-in) has given to
/// the stream is done.
void wait_for_others(std::function<void(void* stream, bool by_host)> wait);
/// Runs `work` now, or adds it to the graph that `stream` is recording.
void submit(void* stream, std::function<void()> work);

template <class P>
void expect_device_argument(const char* name, [[maybe_unused]] const P& value) {
  if constexpr (std::is_pointer_v<P>) {
    const void* p = reinterpret_cast<const void*>(value);
    if (p && !is_device_pointer(p)) fault("%s: an argument is a pointer to host memory.", name);
  }
}

template <class... P, class... A>
void launch(const char* name, Launch how, void (*kernel)(P...), dim3 grid, dim3 block, size_t shared_bytes,
            void* stream, A&&... args) {
  static_assert(sizeof...(P) == sizeof...(A), "a kernel takes exactly its parameters");
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  (expect_device_argument<P>(name, static_cast<P>(args)), ...);
  const Grid call{name, how, grid, block, shared_bytes, stream};
  submit(stream, [=] { run_grid(call, [&] { kernel(static_cast<P>(args)...); }); });
}

}  // namespace hone::cuda_shim
