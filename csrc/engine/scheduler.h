// Who computes in the next step: slots, pages, prefill budget, preemption. Policy; Residency is the mechanism.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/config.h"
#include "engine/page_pool.h"
#include "engine/piece.h"
#include "engine/residency.h"
#include "engine/sequence.h"

namespace hone::engine {

/// First come, first served. Decoding sequences take slots in order of submission; a new prompt is prefilled
/// when a slot is free for one of its attempts and its pages are there. When pages run out the youngest
/// request loses its pages to host memory, so the oldest one that may run always progresses. A sequence that
/// waits for a weight version gives up its slot, and its pages before anyone else's.
class Scheduler {
 public:
  Scheduler(const EngineConfig& config, PagePool& pool);

  void submit(Request request);
  Group* find(uint64_t request) const;
  /// Ends a sequence, whatever its state; the group goes with its last one.
  void end(Sequence& sequence);
  /// Ends everything.
  void clear();

  /// The rows of the next step, decoding ones first; empty if nothing may run under `version`. With `admit`
  /// false no new prompt is started. The pieces stay valid until the next call.
  const std::vector<Piece>& schedule(uint32_t version, bool admit);
  /// Somebody could go on under `version`: then schedule() gives them rows.
  bool runnable(uint32_t version) const;
  /// After the step: chunks are cached; a finished prompt parks its members, ready to decode.
  void advance_prompts(uint32_t version);

  /// A prompt is half prefilled: a weight swap now would mix versions inside it.
  bool prefilling() const { return !prefilling_.empty(); }
  /// Oldest version that an unfinished planned sequence needs next.
  std::optional<uint32_t> oldest_needed_version() const;

  TensorView block_tables() const { return residency_.block_tables(); }
  const std::vector<std::unique_ptr<Group>>& groups() const { return groups_; }
  int64_t running() const { return int64_t(running_.size()); }
  int64_t waiting() const;
  int64_t preemptions() const { return preemptions_; }
  double swap_seconds() const { return residency_.swap_seconds(); }

 private:
  void park_waiting_for_version(uint32_t version);
  void resume_parked(uint32_t version);
  void grow_running(uint32_t version);
  void add_chunks(uint32_t version, bool admit);
  bool admit_one(uint32_t version);
  Group* next_waiting(uint32_t version) const;
  int32_t free_slots() const;

  /// Preempts until `pages` are free, never `keep`; false if the requester is itself the youngest.
  bool make_room(int32_t pages, Group& requester, const Sequence* keep, uint32_t version);
  bool preempt(Group& requester, const Sequence* keep, uint32_t version);
  void preempt_group(Group& group);
  bool preempt_member(Group& group, const Sequence* keep);
  void preempt_sequence(Sequence& sequence);
  static bool holds_pages(const Group& group);

  EngineConfig config_;
  PagePool& pool_;
  Residency residency_;
  uint64_t submitted_ = 0;
  std::vector<std::unique_ptr<Group>> groups_;  // by order
  std::unordered_map<uint64_t, Group*> by_id_;
  std::vector<Group*> waiting_, prefilling_;    // by order
  std::vector<Sequence*> parked_, running_;     // by order, attempt
  std::vector<Piece> pieces_;
  int64_t preemptions_ = 0, planned_ = 0;
};

}  // namespace hone::engine
