#include "engine/residency.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace hone::engine {

namespace {

/// A sequence starts with a copy of its prompt's state; the last one to start takes the state itself.
void begin_state(RecurrentStates& states, Sequence& s) {
  if (s.group->unstarted == 1) states.move(s.group->recurrent, s.recurrent);
  else states.copy(s.group->recurrent, s.recurrent);
}

}  // namespace

Residency::Residency(PagePool& pool, int32_t max_running, int32_t max_context, int64_t state_floats, const Stream& stream)
    : pool_(pool), states_(state_floats, 2 * max_running, stream), tables_(2 * max_running, pool.pages_for(max_context)), swap_(pool) {}

void Residency::begin_prompt(Group& group) {
  const int32_t pages = pool_.pages_for(group.prompt_tokens());
  for (int32_t i = 0; i < pages; ++i) group.prompt_pages.push_back(pool_.take());
  group.table_row = tables_.open(group.prompt_pages);
  group.prompt = Group::Prompt::kPrefilling;
  group.prefilled = 0;
  states_.begin(group.recurrent);
}

void Residency::end_prompt(Group& group) {
  tables_.close(group.table_row), states_.rest(group.recurrent);
  group.prompt = Group::Prompt::kResident;
}

void Residency::abandon_prompt(Group& group) {
  discard_prompt(group);
  group.prompt = Group::Prompt::kWaiting;
  group.prefilled = 0;
}

int32_t Residency::restore_need(const Group& group) const {
  if (group.prompt != Group::Prompt::kSaved) return 0;
  return group.unstarted > 0 ? group.saved_pages : std::min(group.saved_pages, group.shared_pages);
}

int32_t Residency::resume_need(const Sequence& s) const {
  const Group& group = *s.group;
  const bool partial = group.prompt_tokens() % pool_.page_tokens() != 0;
  int32_t own = 0, covered = int32_t(s.pages.size());
  if (!s.resident()) {
    own = s.started ? s.saved_pages : (partial && group.unstarted > 1 ? 1 : 0);
    covered = group.shared_pages + (s.started ? s.saved_pages : partial);
  }
  const int32_t next = s.position() / pool_.page_tokens() >= covered ? 1 : 0;
  return restore_need(group) + own + next;
}

void Residency::resume(Sequence& s) {
  Group& group = *s.group;
  restore_prompt(group);
  if (!s.resident()) {
    for (int32_t i = 0; i < group.shared_pages; ++i) {
      s.pages.push_back(group.prompt_pages[size_t(i)]);
      pool_.retain(s.pages.back());
    }
    if (s.started) {
      swap_.in(s.saved, s.saved_pages, s.pages);
      s.saved_pages = 0;
    } else if (group.partial_page()) {
      const int32_t partial = group.prompt_pages.back();
      if (group.unstarted == 1) {
        group.prompt_pages.pop_back();
        s.pages.push_back(partial);
      } else {
        s.pages.push_back(pool_.take());
        pool_.copy(partial, s.pages.back());
      }
    }
    if (!s.started) begin_state(states_, s), --group.unstarted;
    s.started = true;
  }
  s.table_row = tables_.open(s.pages), states_.resume(s.recurrent);
  s.state = Sequence::State::kRunning;
  if (must_grow(s)) grow(s);
}

bool Residency::must_grow(const Sequence& s) const {
  return s.position() / pool_.page_tokens() >= int32_t(s.pages.size());
}

void Residency::grow(Sequence& s) {
  s.pages.push_back(pool_.take());
  tables_.set(s.table_row, s.pages.size() - 1, s.pages.back());
}

void Residency::park(Sequence& s) {
  tables_.close(s.table_row), states_.rest(s.recurrent);
  s.state = Sequence::State::kParked;
}

void Residency::swap_out(Sequence& s) {
  if (s.table_row >= 0) park(s);
  if (!s.resident()) return;
  s.saved_pages = swap_.out(s.pages, size_t(s.group->shared_pages), s.saved);
}

void Residency::swap_out_prompt(Group& group) {
  group.saved_pages = swap_.out(group.prompt_pages, 0, group.saved_prompt);
  group.prompt = Group::Prompt::kSaved;
}

void Residency::restore_prompt(Group& group) {
  if (group.prompt != Group::Prompt::kSaved) return;
  swap_.in(group.saved_prompt, restore_need(group), group.prompt_pages);
  group.saved_pages = 0;
  group.prompt = Group::Prompt::kResident;
}

void Residency::discard(Sequence& s) {
  tables_.close(s.table_row);
  for (const int32_t page : s.pages) pool_.release(page);
  s.pages.clear();
  s.saved = {}, states_.discard(s.recurrent);
  Group& group = *s.group;
  if (s.started) return;
  s.started = true;
  if (--group.unstarted > 0) return;
  states_.discard(group.recurrent);
  if (!group.partial_page()) return;
  pool_.release(group.prompt_pages.back());
  group.prompt_pages.pop_back();
}

void Residency::discard_prompt(Group& group) {
  tables_.close(group.table_row);
  for (const int32_t page : group.prompt_pages) pool_.release(page);
  group.prompt_pages.clear(), states_.discard(group.recurrent);
}

}  // namespace hone::engine
