#include "text/merger.h"

#include <algorithm>

namespace hone::text {

/// Orders candidates so that the one to merge first is on top of the heap (std::push_heap keeps the greatest
/// on top).
struct Merger::Later {
  bool operator()(const Candidate& a, const Candidate& b) const {
    return a.rank != b.rank ? a.rank > b.rank : a.at > b.at;
  }
};

/// Puts the pair that starts at symbol `at` on the heap, if the table has a merge for it.
void Merger::offer(int32_t at) {
  const int32_t next = symbols_[size_t(at)].next;
  if (next < 0) return;
  const Merge* found = merges_.find(pair_key(symbols_[size_t(at)].id, symbols_[size_t(next)].id));
  if (!found) return;
  heap_.push_back({found->rank, at, found->id});
  std::push_heap(heap_.begin(), heap_.end(), Later());
}

void Merger::merge(std::vector<int32_t>& out) {
  if (!symbols_.empty()) symbols_.back().next = -1;
  heap_.clear();
  for (size_t i = 0; i + 1 < symbols_.size(); ++i) {
    const Merge* found = merges_.find(pair_key(symbols_[i].id, symbols_[i + 1].id));
    if (found) heap_.push_back({found->rank, int32_t(i), found->id});
  }
  std::make_heap(heap_.begin(), heap_.end(), Later());
  while (!heap_.empty()) {
    const Candidate best = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), Later());
    heap_.pop_back();
    join(best);
  }
  for (const Symbol& symbol : symbols_) {
    if (symbol.id >= 0) out.push_back(symbol.id);
  }
  clear();
}

/// Merges the pair of a candidate, unless one of its halves has already been merged.
void Merger::join(const Candidate& best) {
  Symbol& left = symbols_[size_t(best.at)];
  if (left.id < 0 || left.next < 0) return;
  Symbol& right = symbols_[size_t(left.next)];
  const Merge* found = merges_.find(pair_key(left.id, right.id));
  if (!found || found->id != best.id) return;
  left.id = best.id;
  left.next = right.next;
  right.id = -1;
  if (left.next >= 0) symbols_[size_t(left.next)].previous = best.at;
  if (left.previous >= 0) offer(left.previous);
  offer(best.at);
}

}  // namespace hone::text
