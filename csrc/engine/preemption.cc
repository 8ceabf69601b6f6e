#include "engine/preemption.h"

#include <algorithm>

namespace hone::engine {

bool Preemption::holds_pages(const Group& group) {
  return !group.prompt_pages.empty() ||
         std::any_of(group.members.begin(), group.members.end(), [](const Sequence& s) { return s.resident(); });
}

bool Preemption::make_room(int32_t pages, Group& requester, const Sequence* keep, uint32_t version) {
  while (pool_.free_pages() < pages) {
    if (!preempt(requester, keep, version)) return false;
  }
  return true;
}

bool Preemption::preempt(Group& requester, const Sequence* keep, uint32_t version) {
  Group* youngest = nullptr;
  bool older = false;
  for (const auto& g : groups_.all()) {
    if (g.get() == &requester || !holds_pages(*g)) continue;
    if (!g->runnable(version)) youngest = g.get();
  }
  if (!youngest) {
    for (const auto& g : groups_.all()) {
      if (g.get() == &requester || !holds_pages(*g)) continue;
      if (g->order > requester.order) youngest = g.get();
      else older = true;
    }
  }
  if (youngest) {
    preempt_group(*youngest);
    return true;
  }
  if (older) return false;  // all other pages belong to older requests
  return preempt_member(requester, keep);
}

void Preemption::preempt_group(Group& group) {
  if (group.prompt == Group::Prompt::kPrefilling) {
    erase_from(queues_.prefilling, &group);
    residency_.abandon_prompt(group);
    insert_sorted(queues_.waiting, &group);
    ++count_;
    return;
  }
  for (Sequence& s : group.members) {
    if (s.resident()) preempt_sequence(s);
  }
  residency_.swap_out_prompt(group);
}

bool Preemption::preempt_member(Group& group, const Sequence* keep) {
  for (auto it = group.members.rbegin(); it != group.members.rend(); ++it) {
    if (&*it == keep || !it->resident()) continue;
    preempt_sequence(*it);
    return true;
  }
  return false;
}

void Preemption::preempt_sequence(Sequence& s) {
  if (s.state == Sequence::State::kRunning) {
    erase_from(queues_.running, &s);
    insert_sorted(queues_.parked, &s);
  }
  residency_.swap_out(s);
  s.state = Sequence::State::kParked;
  ++count_;
}

}  // namespace hone::engine
