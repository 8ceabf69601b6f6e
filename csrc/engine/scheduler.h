// Decides who computes in the next step. Policy, with Prefill and Preemption; Residency is the mechanism.
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

/// First come, first served. Decoding sequences take slots in order of submission; a new prompt is prefilled when a
/// slot is free for one of its attempts and its pages are available. When pages run out, the youngest request's pages
/// move to host memory, so the oldest one that may run always progresses. A sequence that waits for a weight version
/// gives up its slot, and its pages before any other.
class Scheduler {
 public:
  /// state_floats: as Residency takes it.
  Scheduler(const EngineConfig& config, PagePool& pool, int64_t state_floats = 0);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  void submit(Request request);
  Group* find(uint64_t request) const { return groups_.find(request); }
  /// Ends a sequence in any state; the group is destroyed with its last one.
  void end(Sequence& sequence);
  /// Ends everything.
  void clear();

  /// The rows of the next step, decoding ones first; empty if none may run under `version`. With `admit` false no new
  /// prompt is started. The pieces stay valid until the next call.
  const std::vector<Piece>& schedule(uint32_t version, bool admit);
  /// True if any row could run under `version`: then schedule() returns rows.
  bool runnable(uint32_t version) const { return groups_.runnable(version); }
  /// Call after the step: chunks are cached; a finished prompt parks its members, ready to decode.
  void advance_prompts(uint32_t version) { prefill_.advance(pieces_, version); }

  /// True if a prompt is partly prefilled: a weight swap now would mix versions inside it.
  bool prefilling() const { return !queues_.prefilling.empty(); }
  /// Oldest version that an unfinished planned sequence needs next.
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
