// Preemption: chooses which sequences lose their KV pages when too few pages are free.
#pragma once

#include <cstdint>

#include "engine/group_table.h"
#include "engine/page_pool.h"
#include "engine/queues.h"
#include "engine/residency.h"

namespace hone::engine {

/// When too few pages are free, moves pages to host memory, in this order: those of requests that wait for a
/// weight version; those of the youngest request; last those of the requester's own attempts, the latest
/// first. An older request never loses pages to a younger one. The constructor's arguments must outlive it.
class Preemption {
 public:
  Preemption(const PagePool& pool, Residency& residency, const GroupTable& groups, Queues& queues)
      : pool_(pool), residency_(residency), groups_(groups), queues_(queues) {}

  /// Preempts sequences and prompts, but not `keep`, until `pages` pages are free. Returns false if that
  /// would take pages of requests older than `requester`.
  bool make_room(int32_t pages, Group& requester, const Sequence* keep, uint32_t version);
  /// Parks the sequence and moves its pages to host memory.
  void preempt_sequence(Sequence& sequence);

  /// How often sequences and partly prefilled prompts have lost their pages so far.
  int64_t count() const { return count_; }

 private:
  bool preempt(Group& requester, const Sequence* keep, uint32_t version);
  void preempt_group(Group& group);
  bool preempt_member(Group& group, const Sequence* keep);
  static bool holds_pages(const Group& group);

  const PagePool& pool_;
  Residency& residency_;
  const GroupTable& groups_;
  Queues& queues_;
  int64_t count_ = 0;
};

}  // namespace hone::engine
