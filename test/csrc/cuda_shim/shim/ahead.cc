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

/// Buffers of earlier copies: fresh memory for every kernel would cost more than the copies.
std::vector<std::vector<unsigned char>> spares;

std::vector<unsigned char> spare_buffer(size_t bytes) {
  const auto found = std::find_if(spares.begin(), spares.end(), [&](const auto& buffer) { return buffer.size() == bytes; });
  if (found == spares.end()) return std::vector<unsigned char>(bytes);
  std::vector<unsigned char> buffer = std::move(*found);
  spares.erase(found);
  return buffer;
}

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
  for (const auto& [at, bytes] : live_memory()) {
    Change& copy = all.emplace_back(Change{at, spare_buffer(bytes)});
    std::memcpy(copy.others.data(), at, bytes);  // copying by iterators would call memmove, which ASan runs byte by byte
  }
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
  spares.clear();
  for (Change& piece : before) spares.push_back(std::move(piece.others));
  return changes;
}

void show_in_front(bool before) {
  Machine& m = machine();
  for (Change& c : m.in_front) std::swap_ranges(c.others.begin(), c.others.end(), c.at);
  m.ahead = before;
}

}  // namespace hone::cuda_shim
