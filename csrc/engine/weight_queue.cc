#include "engine/weight_queue.h"

#include <utility>

#include "core/error.h"

namespace hone::engine {

bool WeightQueue::advance(std::optional<uint32_t> needed) {
  if (pending_.empty()) return false;
  if (!needed) {
    current_ = std::move(pending_.back());
    pending_.clear();
    return true;
  }
  bool changed = false;
  while (!pending_.empty() && !(current_ && current_->version >= *needed)) {
    if (pending_.front()->version > *needed) {
      fail(Code::kState,
           "replay: a planned sequence needs weight version %u next, but version %u is the next one given. "
           "Publish every version the plan names, in order.",
           *needed, pending_.front()->version);
    }
    current_ = std::move(pending_.front());
    pending_.pop_front();
    changed = true;
  }
  return changed;
}

}  // namespace hone::engine
