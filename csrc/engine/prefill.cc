#include "engine/prefill.h"

#include <algorithm>

namespace hone::engine {

int32_t Prefill::free_slots() const {
  int32_t taken = int32_t(queues_.running.size());
  for (const Group* g : queues_.prefilling) taken += g->unfinished;
  return config_.max_running - taken;
}

Group* Prefill::next_waiting(uint32_t version) const {
  for (Group* g : queues_.waiting) {
    if (g->runnable(version)) return g;
  }
  return nullptr;
}

bool Prefill::admit_one(uint32_t version) {
  const int32_t slots = free_slots();
  if (slots <= 0 || int32_t(queues_.prefilling.size()) >= config_.max_running) return false;
  Group* group = next_waiting(version);
  if (!group) return false;
  const int32_t need = pool_.pages_for(group->prompt_tokens());
  const int32_t reserve = std::min(group->unfinished, slots) + int32_t(queues_.running.size());
  if (need + reserve > pool_.free_pages()) {
    const bool alone = queues_.running.empty() && queues_.prefilling.empty();
    if (!alone || !preemption_.make_room(need, *group, nullptr, version)) return false;
  }
  erase_from(queues_.waiting, group);
  residency_.begin_prompt(*group);
  insert_sorted(queues_.prefilling, group);
  return true;
}

void Prefill::add_chunks(std::vector<Piece>& pieces, uint32_t version, bool admit) {
  // At least one prompt row per step, even if as many sequences decode as a step may have rows.
  int32_t budget = std::max(1, config_.step_tokens - int32_t(queues_.running.size()));
  const bool parked_first = std::any_of(queues_.parked.begin(), queues_.parked.end(),
                                        [&](const Sequence* s) { return s->runnable(version); });
  for (size_t i = 0; budget > 0; ++i) {
    if (i == queues_.prefilling.size() && (!admit || parked_first || !admit_one(version))) return;
    Group* g = queues_.prefilling[i];
    const int32_t rows = std::min(budget, g->prompt_tokens() - g->prefilled);
    const bool last = g->prefilled + rows == g->prompt_tokens();
    pieces.push_back({g, nullptr, g->request.prompt.data() + g->prefilled, rows, g->prefilled, g->table_row,
                       last ? g->unfinished : 0});
    budget -= rows;
  }
}

void Prefill::advance(const std::vector<Piece>& pieces, uint32_t version) {
  for (const Piece& piece : pieces) {
    if (piece.sequence) continue;
    Group& group = *piece.group;
    group.prefilled += piece.rows;
    if (group.prefilled < group.prompt_tokens()) continue;
    residency_.end_prompt(group);
    erase_from(queues_.prefilling, &group);
    for (Sequence& s : group.members) {
      if (!s.unfinished()) continue;
      s.state = Sequence::State::kParked;
      s.oldest_kv = version;
      insert_sorted(queues_.parked, &s);
    }
  }
}

}  // namespace hone::engine
