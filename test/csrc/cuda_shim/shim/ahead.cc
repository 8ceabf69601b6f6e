// Kernels that start before the preceding kernel has ended. The threads of the two kernels do not run
// concurrently: the preceding kernel has already ended, and memory is reset to its state before that kernel
// until a thread has to wait for its end.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "shim/machine_state.h"
#include "shim/streams.h"

namespace hone::cuda_shim {
namespace {

constexpr size_t kPiece = 256;  // bytes that are compared at a time

std::atomic<bool> ahead{std::getenv("HONE_SHIM_AHEAD") != nullptr};

}  // namespace

void run_ahead(bool on) {
  ahead = on;
  forget_changes();
}

void forget_changes() {
  const std::lock_guard lock(machine().turn);
  machine().changes.clear();
}

std::vector<Change> global_memory() {
  std::vector<Change> all;
  if (!ahead || capability() < 9) return all;
  for (const auto& [at, bytes] : live_memory()) all.push_back({at, {at, at + bytes}});
  return all;
}

std::vector<Change> changes_since(std::vector<Change> before) {
  std::vector<Change> changes;
  for (const Change& piece : before) {
    for (size_t at = 0; at < piece.others.size(); at += kPiece) {
      const size_t bytes = std::min(kPiece, piece.others.size() - at);
      const unsigned char* const was = piece.others.data() + at;
      if (std::memcmp(was, piece.at + at, bytes)) changes.push_back({piece.at + at, {was, was + bytes}});
    }
  }
  return changes;
}

void show_in_front(bool before) {
  Machine& m = machine();
  for (Change& c : m.in_front) std::swap_ranges(c.others.begin(), c.others.end(), c.at);
  m.ahead = before;
}

}  // namespace hone::cuda_shim
