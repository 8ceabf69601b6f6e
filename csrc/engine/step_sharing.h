// How CPU threads divide a step: not at all, by rows, or inside each op.
#pragma once

#include <cstdint>

#include "engine/split_governor.h"

namespace hone::engine {

/// kAlone: the calling thread does everything. kRows: each thread takes some rows through all layers; threads
/// join once per step, and one thread's attention, which waits for memory, overlaps another thread's matrix
/// products, so that it is fastest while every core is free. kOps: all threads work inside every op. If
/// another process occupies a core, a step divided by rows waits for that thread's whole share of the rows, a
/// step divided in ops only for a small part of one op.
enum class Sharing { kAlone, kRows, kOps };

/// Bytes of all packed weights, and of the largest part that rows pass through at once (a layer, or the
/// head).
struct WeightBytes {
  static constexpr int64_t kCache = 32 << 20;  // about the size of a last-level cache
  int64_t total, largest;
  bool fit_cache() const { return total <= kCache; }
};

/// Approximate cost of rows in FLOPs, for comparing steps. A row multiplies every weight once. Loading one
/// byte of its keys and values takes as long as about six FLOPs (26 GB/s and 165 GFLOP/s per core).
struct RowCost {
  double weights = 0, key_bytes = 0;  // of the whole model; key_bytes: per key
  double of(int64_t keys) const { return 2 * weights + 6 * key_bytes * double(keys); }
};

/// Which ways of dividing a step are worth trying.
struct SharingWays {
  bool rows, ops;
};

/// Fewer rows than this cost nearly as much as this many: reading the weights dominates.
inline constexpr int32_t kMinChunkRows = 4;

/// By rows: threads that compute the same layer read its weights from memory once, so a layer has to fit the
/// last-level cache; and unless all weights fit, every thread needs enough rows to justify reading them. In
/// ops: not if all weights fit, since ops are then too short.
inline SharingWays sharing_ways(const WeightBytes& weights, int64_t rows, int32_t threads) {
  if (threads == 1) return {false, false};
  const bool layer_fits = weights.largest <= WeightBytes::kCache && rows >= int64_t(threads) * kMinChunkRows;
  return {weights.fit_cache() || layer_fits, !weights.fit_cache()};
}

/// Chooses from the times of earlier steps: by rows if that is faster than one thread and than inside the
/// ops, else inside the ops if that is faster than one thread. A long step is always divided: an occupied
/// core delays it by a few time slices at most, and one thread would take twice as long. The time of a long
/// step is not used to judge one thread and division in ops: per FLOP, a prompt's rows are cheaper than a few
/// rows that read all weights.
class StepSharing {
 public:
  static constexpr double kLongStep = 2e9;  // FLOPs: some 12 ms of one core

  Sharing choose(const SharingWays& ways, double cost) const {
    const bool is_long = cost >= kLongStep;
    if (ways.rows && (by_rows_.split() || (is_long && !ways.ops))) return Sharing::kRows;
    return ways.ops && (is_long || in_ops_.split()) ? Sharing::kOps : Sharing::kAlone;
  }

  /// Records the time of a step of cost `cost` that was divided as `chosen`, one of `ways`.
  void record(const SharingWays& ways, Sharing chosen, double cost, double seconds) {
    const bool is_long = cost >= kLongStep;
    if (ways.rows && (ways.ops || !is_long)) by_rows_.record(chosen == Sharing::kRows, cost, seconds);
    if (ways.ops && !is_long && chosen != Sharing::kRows) in_ops_.record(chosen == Sharing::kOps, cost, seconds);
  }

 private:
  SplitGovernor by_rows_, in_ops_;
};

}  // namespace hone::engine
