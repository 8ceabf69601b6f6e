#include "engine/scheduler.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace hone::engine {
namespace {

bool before(const Group* a, const Group* b) { return a->order < b->order; }
bool before(const Sequence* a, const Sequence* b) { return a->before(*b); }

template <class T>
void insert_sorted(std::vector<T*>& queue, T* item) {
  queue.insert(std::upper_bound(queue.begin(), queue.end(), item, [](T* a, T* b) { return before(a, b); }), item);
}

template <class T>
void erase_from(std::vector<T*>& queue, const T* item) {
  const auto it = std::find(queue.begin(), queue.end(), item);
  if (it != queue.end()) queue.erase(it);
}

}  // namespace

Scheduler::Scheduler(const EngineConfig& config, PagePool& pool)
    : config_(config), pool_(pool), residency_(pool, config.max_running, config.max_context) {
  running_.reserve(size_t(config.max_running));
  pieces_.reserve(size_t(2 * config.max_running));
}

void Scheduler::submit(Request request) {
  groups_.push_back(std::make_unique<Group>(std::move(request), submitted_++, config_.page_tokens));
  Group* group = groups_.back().get();
  by_id_[group->request.id] = group;
  waiting_.push_back(group);
  planned_ += group->planned();
}

Group* Scheduler::find(uint64_t request) const {
  const auto it = by_id_.find(request);
  return it == by_id_.end() ? nullptr : it->second;
}

int64_t Scheduler::waiting() const {
  int64_t n = int64_t(parked_.size());
  for (const Group* g : waiting_) n += g->unfinished;
  for (const Group* g : prefilling_) n += g->unfinished;
  return n;
}

void Scheduler::end(Sequence& s) {
  if (s.state == Sequence::State::kEnded) return;
  if (s.state == Sequence::State::kRunning) erase_from(running_, &s);
  if (s.state == Sequence::State::kParked) erase_from(parked_, &s);
  Group* group = s.group;
  residency_.discard(s);
  s.state = Sequence::State::kEnded;
  if (--group->unfinished > 0) return;
  residency_.discard_prompt(*group);
  erase_from(waiting_, group);
  erase_from(prefilling_, group);
  planned_ -= group->planned();
  by_id_.erase(group->request.id);
  groups_.erase(std::find_if(groups_.begin(), groups_.end(), [&](const auto& g) { return g.get() == group; }));
}

void Scheduler::clear() {
  while (!groups_.empty()) {
    Group& group = *groups_.back();
    for (int32_t i = 0, alive = group.unfinished; alive > 0; ++i) {
      if (!group.members[size_t(i)].unfinished()) continue;
      --alive;
      end(group.members[size_t(i)]);
    }
  }
}

std::optional<uint32_t> Scheduler::oldest_needed_version() const {
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

bool Scheduler::runnable(uint32_t version) const {
  return std::any_of(groups_.begin(), groups_.end(), [&](const auto& g) { return g->runnable(version); });
}

const std::vector<Piece>& Scheduler::schedule(uint32_t version, bool admit) {
  pieces_.clear();
  park_waiting_for_version(version);
  resume_parked(version);
  grow_running(version);
  // The last one that ran gave way to older ones that only kept pages: now they run.
  if (running_.empty()) resume_parked(version);
  for (Sequence* s : running_) {
    pieces_.push_back({s->group, s, &s->last_token, 1, s->position(), s->table_row, 1});
  }
  add_chunks(version, admit);
  return pieces_;
}

void Scheduler::park_waiting_for_version(uint32_t version) {
  if (planned_ == 0) return;
  for (size_t i = 0; i < running_.size();) {
    Sequence* s = running_[i];
    if (s->runnable(version)) {
      ++i;
      continue;
    }
    running_.erase(running_.begin() + int64_t(i));
    residency_.park(*s);
    insert_sorted(parked_, s);
  }
}

void Scheduler::resume_parked(uint32_t version) {
  for (size_t i = 0; i < parked_.size() && int32_t(running_.size()) < config_.max_running;) {
    Sequence* s = parked_[i];
    if (!s->runnable(version)) {
      ++i;
      continue;
    }
    // One page in reserve for each sequence that runs already, so that a resumed one is not swapped out
    // again at once. Whoever comes first gets its pages in any case.
    const int32_t need = residency_.resume_need(*s), reserve = int32_t(running_.size());
    const bool fits = running_.empty() ? make_room(need, *s->group, s, version)
                                       : need == 0 || need + reserve <= pool_.free_pages();
    if (!fits) return;
    erase_from(parked_, s);  // make_room may have parked others before it
    residency_.resume(*s);
    insert_sorted(running_, s);
    i = 0;
  }
}

void Scheduler::grow_running(uint32_t version) {
  for (size_t i = 0; i < running_.size();) {
    Sequence* s = running_[i];
    if (!residency_.must_grow(*s)) {
      ++i;
      continue;
    }
    if (pool_.free_pages() > 0) {
      residency_.grow(*s);
      ++i;
      continue;
    }
    if (!make_room(1, *s->group, s, version) && s->state == Sequence::State::kRunning) preempt_sequence(*s);
    i = 0;  // anyone may have left the list
  }
}

int32_t Scheduler::free_slots() const {
  int32_t taken = int32_t(running_.size());
  for (const Group* g : prefilling_) taken += g->unfinished;
  return config_.max_running - taken;
}

Group* Scheduler::next_waiting(uint32_t version) const {
  for (Group* g : waiting_) {
    if (g->runnable(version)) return g;
  }
  return nullptr;
}

bool Scheduler::admit_one(uint32_t version) {
  const int32_t slots = free_slots();
  if (slots <= 0 || int32_t(prefilling_.size()) >= config_.max_running) return false;
  Group* group = next_waiting(version);
  if (!group) return false;
  const int32_t need = pool_.pages_for(group->prompt_tokens());
  const int32_t reserve = std::min(group->unfinished, slots) + int32_t(running_.size());
  if (need + reserve > pool_.free_pages()) {
    const bool alone = running_.empty() && prefilling_.empty();
    if (!alone || !make_room(need, *group, nullptr, version)) return false;
  }
  erase_from(waiting_, group);
  residency_.begin_prompt(*group);
  insert_sorted(prefilling_, group);
  return true;
}

void Scheduler::add_chunks(uint32_t version, bool admit) {
  // At least one prompt row a step, however many sequences decode.
  int32_t budget = std::max(1, config_.step_tokens - int32_t(running_.size()));
  const bool parked_first =
      std::any_of(parked_.begin(), parked_.end(), [&](const Sequence* s) { return s->runnable(version); });
  for (size_t i = 0; budget > 0; ++i) {
    if (i == prefilling_.size() && (!admit || parked_first || !admit_one(version))) return;
    Group* g = prefilling_[i];
    const int32_t rows = std::min(budget, g->prompt_tokens() - g->prefilled);
    const bool last = g->prefilled + rows == g->prompt_tokens();
    pieces_.push_back({g, nullptr, g->request.prompt.data() + g->prefilled, rows, g->prefilled, g->table_row,
                       last ? g->unfinished : 0});
    budget -= rows;
  }
}

void Scheduler::advance_prompts(uint32_t version) {
  for (const Piece& piece : pieces_) {
    if (piece.sequence) continue;
    Group& group = *piece.group;
    group.prefilled += piece.rows;
    if (group.prefilled < group.prompt_tokens()) continue;
    residency_.end_prompt(group);
    erase_from(prefilling_, &group);
    for (Sequence& s : group.members) {
      if (!s.unfinished()) continue;
      s.state = Sequence::State::kParked;
      s.oldest_kv = version;
      insert_sorted(parked_, &s);
    }
  }
}

// ---- preemption --------------------------------------------------------------------------------------

bool Scheduler::holds_pages(const Group& group) {
  return !group.prompt_pages.empty() ||
         std::any_of(group.members.begin(), group.members.end(), [](const Sequence& s) { return s.resident(); });
}

bool Scheduler::make_room(int32_t pages, Group& requester, const Sequence* keep, uint32_t version) {
  while (pool_.free_pages() < pages) {
    if (!preempt(requester, keep, version)) return false;
  }
  return true;
}

bool Scheduler::preempt(Group& requester, const Sequence* keep, uint32_t version) {
  Group* youngest = nullptr;
  bool older = false;
  for (const auto& g : groups_) {
    if (g.get() == &requester || !holds_pages(*g)) continue;
    if (!g->runnable(version)) youngest = g.get();
  }
  if (!youngest) {
    for (const auto& g : groups_) {
      if (g.get() == &requester || !holds_pages(*g)) continue;
      if (g->order > requester.order) youngest = g.get();
      else older = true;
    }
  }
  if (youngest) {
    preempt_group(*youngest);
    return true;
  }
  if (older) return false;  // the requester is the youngest itself
  return preempt_member(requester, keep);
}

void Scheduler::preempt_group(Group& group) {
  if (group.prompt == Group::Prompt::kPrefilling) {
    erase_from(prefilling_, &group);
    residency_.abandon_prompt(group);
    insert_sorted(waiting_, &group);
    ++preemptions_;
    return;
  }
  for (Sequence& s : group.members) {
    if (s.resident()) preempt_sequence(s);
  }
  residency_.swap_out_prompt(group);
}

bool Scheduler::preempt_member(Group& group, const Sequence* keep) {
  for (auto it = group.members.rbegin(); it != group.members.rend(); ++it) {
    if (&*it == keep || !it->resident()) continue;
    preempt_sequence(*it);
    return true;
  }
  return false;
}

void Scheduler::preempt_sequence(Sequence& s) {
  if (s.state == Sequence::State::kRunning) {
    erase_from(running_, &s);
    insert_sorted(parked_, &s);
  }
  residency_.swap_out(s);
  s.state = Sequence::State::kParked;
  ++preemptions_;
}

}  // namespace hone::engine
