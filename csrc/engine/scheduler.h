// Decides which sequences and prompts compute in the next step, with Prefill and Preemption; Residency moves
// their pages.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/config.h"
#include "engine/group_table.h"
#include "engine/page_pool.h"
#include "engine/piece.h"
#include "engine/preemption.h"
#include "engine/prefill.h"
#include "engine/queues.h"
#include "engine/residency.h"
#include "engine/sequence.h"

namespace hone::engine {

/// First come, first served. Decoding sequences get slots in order of submission; a new prompt is prefilled
/// when a slot is free for one of its attempts and its pages are available. When pages run out, those of the
/// youngest request move to host memory, so that the oldest request that may run always progresses. A
/// sequence that waits for a weight version gives up its slot, and is the first to lose its pages.
class Scheduler {
 public:
  /// state_floats: f32 numbers in a sequence's recurrent states (ModelConfig::state_floats), which are in the
  /// memory of `stream`.
  Scheduler(const EngineConfig& config, PagePool& pool, int64_t state_floats = 0, const Stream& stream = {});
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  void submit(Request request);
  Group* find(uint64_t request) const { return groups_.find(request); }
  /// Ends a sequence in any state; destroys the group if it was the last unfinished one.
  void end(Sequence& sequence);
  /// Ends all sequences and destroys all groups.
  void clear();

  /// The pieces of the next step, decoding rows first; empty if nothing may run under `version`. With `admit`
  /// false no new prompt is started. The result is valid until the next call.
  const std::vector<Piece>& schedule(uint32_t version, bool admit);
  /// True if any row could run under `version`, that is, if schedule() would return pieces.
  bool runnable(uint32_t version) const { return groups_.runnable(version); }
  /// Must be called after the step, when its chunks are cached; the attempts of a finished prompt are then
  /// parked, ready to decode.
  void advance_prompts(uint32_t version) { prefill_.advance(pieces_, version); }

  /// True if a prompt is partly prefilled: new weights now would mix versions within its keys.
  bool prefilling() const { return !queues_.prefilling.empty(); }
  /// Oldest version that the next token of any unfinished planned sequence needs.
  std::optional<uint32_t> oldest_needed_version() const { return groups_.oldest_needed_version(); }

  TensorView block_tables() const { return residency_.block_tables(); }
  const std::vector<std::unique_ptr<Group>>& groups() const { return groups_.all(); }
  int64_t running() const { return int64_t(queues_.running.size()); }
  int64_t waiting() const { return queues_.idle_attempts(); }
  int64_t preemptions() const { return preemption_.count(); }
  double swap_seconds() const { return residency_.swap_seconds(); }

 private:
  void park_waiting_for_version(uint32_t version);
  void resume_parked(uint32_t version);
  void grow_running(uint32_t version);

  EngineConfig config_;
  PagePool& pool_;
  Residency residency_;
  GroupTable groups_;
  Queues queues_;
  Preemption preemption_;
  Prefill prefill_;
  std::vector<Piece> pieces_;
};

}  // namespace hone::engine
