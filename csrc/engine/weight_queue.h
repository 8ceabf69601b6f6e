// Decides which weight version the engine samples with, and when it takes the next one.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "model/weight_snapshot.h"

namespace hone::engine {

/// The current weight snapshot and the pending ones.
class WeightQueue {
 public:
  using Snapshot = std::shared_ptr<const model::WeightSnapshot>;

  void push(Snapshot weights) { pending_.push_back(std::move(weights)); }
  bool pending() const { return !pending_.empty(); }
  const Snapshot& current() const { return current_; }

  /// Replaces the current snapshot by the same weights at another place in memory.
  void replace_current(Snapshot weights) { current_ = std::move(weights); }

  /// Switches to the next snapshot; called between steps. `needed`: oldest version that a planned sequence
  /// needs next; no value: there is no plan. Without plans the newest pending version is taken; with plans
  /// versions are taken in order, none newer than `needed`. Returns true if the current version changed.
  /// Throws kState if `needed` was never pushed.
  bool advance(std::optional<uint32_t> needed);

 private:
  Snapshot current_;
  std::deque<Snapshot> pending_;
};

}  // namespace hone::engine
