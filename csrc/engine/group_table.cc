#include "engine/group_table.h"

#include <algorithm>
#include <utility>

namespace hone::engine {

Group& GroupTable::add(Request request, int32_t page_tokens, const std::vector<std::string>& token_bytes) {
  groups_.push_back(std::make_unique<Group>(std::move(request), submitted_++, page_tokens, token_bytes));
  Group& group = *groups_.back();
  by_id_[group.request.id] = &group;
  planned_ += group.planned();
  return group;
}

void GroupTable::erase(Group& group) {
  planned_ -= group.planned();
  by_id_.erase(group.request.id);
  groups_.erase(std::find_if(groups_.begin(), groups_.end(), [&](const auto& g) { return g.get() == &group; }));
}

Group* GroupTable::find(uint64_t request) const {
  const auto it = by_id_.find(request);
  return it == by_id_.end() ? nullptr : it->second;
}

std::optional<uint32_t> GroupTable::oldest_needed_version() const {
  std::optional<uint32_t> oldest;
  if (planned_ == 0) return oldest;
  for (const auto& group : groups_) {
    for (const Sequence& s : group->members) {
      const std::optional<uint32_t> needed = s.needed_version();
      if (needed && (!oldest || *needed < *oldest)) oldest = needed;
    }
  }
  return oldest;
}

bool GroupTable::runnable(uint32_t version) const {
  return std::any_of(groups_.begin(), groups_.end(), [&](const auto& g) { return g->runnable(version); });
}

}  // namespace hone::engine
