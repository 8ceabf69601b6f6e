// The queues of waiting, prefilling, parked and running work, each in order of submission.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/sequence.h"

namespace hone::engine {

inline bool before(const Group* a, const Group* b) { return a->order < b->order; }
inline bool before(const Sequence* a, const Sequence* b) { return a->before(*b); }

/// Inserts `item` at its place in the queue's order.
template <class T>
void insert_sorted(std::vector<T*>& queue, T* item) {
  queue.insert(std::upper_bound(queue.begin(), queue.end(), item, [](T* a, T* b) { return before(a, b); }), item);
}

/// Removes `item`; does nothing if the queue does not contain it.
template <class T>
void erase_from(std::vector<T*>& queue, const T* item) {
  const auto it = std::find(queue.begin(), queue.end(), item);
  if (it != queue.end()) queue.erase(it);
}

/// A group is in `waiting` or `prefilling` until its prompt is cached; then each of its sequences is in
/// `parked` or `running`.
struct Queues {
  std::vector<Group*> waiting, prefilling;   // by submission
  std::vector<Sequence*> parked, running;    // by submission, then attempt

  /// Number of unfinished attempts that have no slot.
  int64_t idle_attempts() const {
    auto n = int64_t(parked.size());
    for (const Group* g : waiting) n += g->unfinished;
    for (const Group* g : prefilling) n += g->unfinished;
    return n;
  }
};

}  // namespace hone::engine
