// The queues of waiting, prefilling, parked and running work, each in the order of submission.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/sequence.h"

namespace hone::engine {

inline bool before(const Group* a, const Group* b) { return a->order < b->order; }
inline bool before(const Sequence* a, const Sequence* b) { return a->before(*b); }

/// Inserts it where its order belongs.
template <class T>
void insert_sorted(std::vector<T*>& queue, T* item) {
  queue.insert(std::upper_bound(queue.begin(), queue.end(), item, [](T* a, T* b) { return before(a, b); }), item);
}

/// Removes it; does nothing if it is not there.
template <class T>
void erase_from(std::vector<T*>& queue, const T* item) {
  const auto it = std::find(queue.begin(), queue.end(), item);
  if (it != queue.end()) queue.erase(it);
}

/// A group is in one of the first two queues until its prompt is cached; then each of its sequences is in one of the
/// others.
struct Queues {
  std::vector<Group*> waiting, prefilling;   // by order
  std::vector<Sequence*> parked, running;    // by order, attempt

  /// Unfinished attempts that have no slot.
  int64_t idle_attempts() const {
    auto n = int64_t(parked.size());
    for (const Group* g : waiting) n += g->unfinished;
    for (const Group* g : prefilling) n += g->unfinished;
    return n;
  }
};

}  // namespace hone::engine
