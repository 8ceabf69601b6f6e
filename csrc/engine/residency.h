// Where sequences' keys and values are: in pages, in host memory, or not there yet. Mechanism, no policy.
#pragma once

#include <cstdint>

#include "core/tensor.h"
#include "engine/block_tables.h"
#include "engine/page_pool.h"
#include "engine/page_swap.h"
#include "engine/sequence.h"

namespace hone::engine {

/// Moves groups and sequences in and out of the page pool and keeps the block tables of what computes.
/// Callers make sure that free_pages() suffices (the *_need functions say how much).
class Residency {
 public:
  /// At most `max_running` sequences and as many prefilling prompts compute at once.
  Residency(PagePool& pool, int32_t max_running, int32_t max_context);

  /// Prompt of a group: pages and a table row for prefilling; the row goes back at the end; all of it if abandoned.
  void begin_prompt(Group& group);
  void end_prompt(Group& group);
  void abandon_prompt(Group& group);

  /// Pages that resume() takes, the one for the next row included.
  int32_t resume_need(const Sequence& sequence) const;
  /// Makes a parked sequence compute: the prompt restored if it was saved, full prompt pages shared, the
  /// partial one copied (the last member takes it), or its private pages restored bit for bit.
  void resume(Sequence& sequence);
  /// True if the next row has no page yet.
  bool must_grow(const Sequence& sequence) const;
  void grow(Sequence& sequence);
  /// Stops computing and keeps its pages.
  void park(Sequence& sequence);
  /// Saves private pages to host memory and gives up all pages.
  void swap_out(Sequence& sequence);
  /// The same for the prompt pages of a group none of whose members is resident.
  void swap_out_prompt(Group& group);
  /// Gives everything up for good.
  void discard(Sequence& sequence);
  void discard_prompt(Group& group);

  TensorView block_tables() const { return tables_.view(); }  // [2 max_running, M] i32
  /// Wall time spent copying pages to and from host memory.
  double swap_seconds() const { return swap_.seconds(); }

 private:
  int32_t restore_need(const Group& group) const;
  void restore_prompt(Group& group);

  PagePool& pool_;
  BlockTables tables_;
  PageSwap swap_;
};

}  // namespace hone::engine
