// Merges neighbouring symbols in order of rank, leftmost first.
#pragma once

#include <cstdint>
#include <vector>

#include "text/id_map.h"

namespace hone::text {

/// A table of merges, and the row of symbols that they are applied to. Time O(n log n) and memory O(n) in the
/// symbols of a row.
/// Source: Sennrich et al., "Neural Machine Translation of Rare Words with Subword Units", section 3.2.
class Merger {
 public:
  /// Neighbours `first` and `second` are merged to `both`, the token of their joined texts. Lower ranks are
  /// merged first. Only the first call for a pair has an effect.
  void add(int32_t first, int32_t second, int32_t rank, int32_t both) {
    merges_.insert(pair_key(first, second), {rank, both});
  }

  /// Starts a new row.
  void clear() { symbols_.clear(); }
  /// Appends a non-negative id to the row. A row holds at most INT32_MAX ids.
  void push(int32_t id) {
    const int32_t at = int32_t(symbols_.size());
    symbols_.push_back({id, at - 1, at + 1});
  }
  /// Merges until no neighbours can be merged, and appends the remaining ids to `out`. Empties the row.
  void merge(std::vector<int32_t>& out);

 private:
  struct Merge {
    int32_t rank, id;
  };
  struct Symbol {
    // indices of the neighbours, -1 at the ends; id < 0 after the symbol was merged into another
    int32_t id, previous, next;
  };
  struct Candidate {
    int32_t rank, at, id;
  };
  struct Later;

  void offer(int32_t at);
  void join(const Candidate& best);

  IdMap<Merge> merges_;
  std::vector<Symbol> symbols_;
  std::vector<Candidate> heap_;
};

}  // namespace hone::text
