// Location of sequences' keys and values: in pages, in host memory, or not computed yet. Mechanism, no policy.
#pragma once

#include <cstdint>

#include "core/tensor.h"
#include "engine/block_tables.h"
#include "engine/page_pool.h"
#include "engine/page_swap.h"
#include "engine/sequence.h"

namespace hone::engine {

/// Moves groups and sequences in and out of the page pool and maintains the block tables of computing ones. Recurrent
/// states are always in host memory: a sequence that loses its pages keeps its state, a partly prefilled prompt loses
/// both. Callers ensure that free_pages() suffices (the *_need functions return the need).
class Residency {
 public:
  /// At most `max_running` sequences and as many prefilling prompts compute at once. state_floats: size of a sequence's
  /// recurrent states (ModelConfig::state_floats).
  Residency(PagePool& pool, int32_t max_running, int32_t max_context, int64_t state_floats = 0);

  /// A group's prompt: begin_prompt takes pages and a table row for prefilling, end_prompt frees the row,
  /// abandon_prompt frees everything.
  void begin_prompt(Group& group);
  void end_prompt(Group& group);
  void abandon_prompt(Group& group);

  /// Pages that resume() needs, including the one for the next row.
  int32_t resume_need(const Sequence& sequence) const;
  /// Lets a parked sequence compute: restores the prompt if it was saved, shares its full pages and copies the partial
  /// one (the last member takes it), or restores the sequence's private pages bit for bit.
  void resume(Sequence& sequence);
  /// True if the next row has no page yet.
  bool must_grow(const Sequence& sequence) const;
  void grow(Sequence& sequence);
  /// Stops computing and keeps its pages.
  void park(Sequence& sequence);
  /// Saves private pages to host memory and gives up all pages.
  void swap_out(Sequence& sequence);
  /// Like swap_out, for the prompt pages of a group without resident members.
  void swap_out_prompt(Group& group);
  /// Releases everything for good.
  void discard(Sequence& sequence);
  void discard_prompt(Group& group);

  TensorView block_tables() const { return tables_.view(); }  // [2 max_running, M] i32
  /// Wall time spent copying pages to and from host memory.
  double swap_seconds() const { return swap_.seconds(); }

 private:
  int32_t restore_need(const Group& group) const;
  void restore_prompt(Group& group);

  PagePool& pool_;
  int64_t state_floats_;
  BlockTables tables_;
  PageSwap swap_;
};

}  // namespace hone::engine
