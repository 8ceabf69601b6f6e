#include "engine/residency.h"

#include <algorithm>

#include "core/stopwatch.h"

namespace hone::engine {

Residency::Residency(PagePool& pool, int32_t max_running, int32_t max_context)
    : pool_(pool), table_width_(pool.pages_for(max_context)) {
  const int32_t rows = 2 * max_running;
  tables_.assign(size_t(rows) * size_t(table_width_), 0);
  for (int32_t row = rows - 1; row >= 0; --row) free_rows_.push_back(row);
}

TensorView Residency::block_tables() const {
  return i32(tables_.data(), {int64_t(tables_.size()) / table_width_, table_width_});
}

void Residency::begin_prompt(Group& group) {
  const int32_t pages = pool_.pages_for(group.prompt_tokens());
  for (int32_t i = 0; i < pages; ++i) group.prompt_pages.push_back(pool_.take());
  open_row(group.table_row, group.prompt_pages);
  group.prompt = Group::Prompt::kPrefilling;
  group.prefilled = 0;
}

void Residency::end_prompt(Group& group) {
  close_row(group.table_row);
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
      load(s.saved, s.saved_pages, s.pages);
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
    if (!s.started) --group.unstarted;
    s.started = true;
  }
  open_row(s.table_row, s.pages);
  s.state = Sequence::State::kRunning;
  if (must_grow(s)) grow(s);
}

bool Residency::must_grow(const Sequence& s) const {
  return s.position() / pool_.page_tokens() >= int32_t(s.pages.size());
}

void Residency::grow(Sequence& s) {
  tables_[size_t(s.table_row) * size_t(table_width_) + s.pages.size()] = pool_.take();
  s.pages.push_back(tables_[size_t(s.table_row) * size_t(table_width_) + s.pages.size()]);
}

void Residency::park(Sequence& s) {
  close_row(s.table_row);
  s.state = Sequence::State::kParked;
}

void Residency::swap_out(Sequence& s) {
  if (s.table_row >= 0) park(s);
  if (!s.resident()) return;
  const auto shared = size_t(s.group->shared_pages);
  save(s.pages, shared, s.saved);
  s.saved_pages = int32_t(s.pages.size() - shared);
  for (const int32_t page : s.pages) pool_.release(page);
  s.pages.clear();
}

void Residency::swap_out_prompt(Group& group) {
  save(group.prompt_pages, 0, group.saved_prompt);
  group.saved_pages = int32_t(group.prompt_pages.size());
  discard_prompt(group);
  group.prompt = Group::Prompt::kSaved;
}

void Residency::restore_prompt(Group& group) {
  if (group.prompt != Group::Prompt::kSaved) return;
  load(group.saved_prompt, restore_need(group), group.prompt_pages);
  group.saved_pages = 0;
  group.prompt = Group::Prompt::kResident;
}

void Residency::discard(Sequence& s) {
  close_row(s.table_row);
  for (const int32_t page : s.pages) pool_.release(page);
  s.pages.clear();
  s.saved = {};
  Group& group = *s.group;
  if (!s.started) {
    s.started = true;
    if (--group.unstarted == 0 && group.partial_page()) {
      pool_.release(group.prompt_pages.back());
      group.prompt_pages.pop_back();
    }
  }
}

void Residency::discard_prompt(Group& group) {
  close_row(group.table_row);
  for (const int32_t page : group.prompt_pages) pool_.release(page);
  group.prompt_pages.clear();
}

void Residency::save(const std::vector<int32_t>& pages, size_t first, std::vector<std::byte>& out) {
  const Stopwatch watch(swap_seconds_);
  const auto bytes = size_t(pool_.page_bytes());
  out.resize((pages.size() - first) * bytes);
  for (size_t i = first; i < pages.size(); ++i) pool_.save(pages[i], out.data() + (i - first) * bytes);
}

void Residency::load(std::vector<std::byte>& saved, int32_t count, std::vector<int32_t>& pages) {
  const Stopwatch watch(swap_seconds_);
  const auto bytes = size_t(pool_.page_bytes());
  for (size_t i = 0; i < size_t(count); ++i) {
    pages.push_back(pool_.take());
    pool_.load(pages.back(), saved.data() + i * bytes);
  }
  saved = {};
}

void Residency::open_row(int32_t& row, const std::vector<int32_t>& pages) {
  row = free_rows_.back();
  free_rows_.pop_back();
  std::copy(pages.begin(), pages.end(), tables_.begin() + int64_t(row) * table_width_);
}

void Residency::close_row(int32_t& row) {
  if (row < 0) return;
  free_rows_.push_back(row);
  row = -1;
}

}  // namespace hone::engine
