// Tracks where sequences' keys and values are: in pages, in host memory, or not computed yet. The caller
// decides when to move them.
#pragma once

#include <cstdint>

#include "core/tensor.h"
#include "engine/block_tables.h"
#include "engine/page_pool.h"
#include "engine/page_swap.h"
#include "engine/recurrent_states.h"
#include "engine/sequence.h"

namespace hone::engine {

/// Moves groups and sequences in and out of the page pool, and maintains the block tables of computing ones.
/// A sequence that loses its pages keeps its recurrent state (recurrent_states.h); a partly prefilled prompt
/// loses both. The caller must ensure that enough pages are free (the *_need functions
/// return how many are needed).
class Residency {
 public:
  /// At most `max_running` sequences and as many prompts compute at once. state_floats: f32 numbers in a
  /// sequence's recurrent states (ModelConfig::state_floats), which are in the memory of `stream`.
  Residency(PagePool& pool, int32_t max_running, int32_t max_context, int64_t state_floats = 0, const Stream& stream = {});

  /// For a group's prompt: begin_prompt takes pages and a table row; end_prompt frees the row.
  void begin_prompt(Group& group);
  void end_prompt(Group& group);
  void abandon_prompt(Group& group);

  /// Pages that resume() needs, including the page for the sequence's next row.
  int32_t resume_need(const Sequence& sequence) const;
  /// Makes a parked sequence ready to compute. Restores the prompt's pages if they were saved. A sequence
  /// without pages of its own shares the prompt's full pages and copies the partial one (the group's last
  /// sequence takes it); a swapped-out sequence gets its private pages back bit for bit.
  void resume(Sequence& sequence);
  /// True if the sequence's next row has no page yet; grow() then takes one.
  bool must_grow(const Sequence& sequence) const;
  void grow(Sequence& sequence);
  /// Frees the sequence's table row; its pages stay.
  void park(Sequence& sequence);
  /// Copies the sequence's private pages to host memory and releases all its pages.
  void swap_out(Sequence& sequence);
  /// Copies a group's prompt pages to host memory and releases them; no sequence of the group may have pages.
  void swap_out_prompt(Group& group);
  /// Release the pages and saved copies of a sequence, or of a group's prompt, permanently.
  void discard(Sequence& sequence);
  void discard_prompt(Group& group);

  TensorView block_tables() const { return tables_.view(); }  // [2 max_running, M] i32
  /// Wall time spent copying pages to and from host memory.
  double swap_seconds() const { return swap_.seconds(); }

 private:
  int32_t restore_need(const Group& group) const;
  void restore_prompt(Group& group);

  PagePool& pool_;
  RecurrentStates states_;
  BlockTables tables_;
  PageSwap swap_;
};

}  // namespace hone::engine
