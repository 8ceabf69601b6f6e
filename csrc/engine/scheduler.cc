#include "engine/scheduler.h"

#include <utility>

namespace hone::engine {

Scheduler::Scheduler(const EngineConfig& config, PagePool& pool, int64_t state_floats, const Stream& stream)
    : config_(config),
      pool_(pool),
      residency_(pool, config.max_running, config.max_context, state_floats, stream),
      preemption_(pool_, residency_, groups_, queues_),
      prefill_(config_, pool_, residency_, preemption_, queues_) {
  queues_.running.reserve(size_t(config.max_running));
  pieces_.reserve(size_t(2 * config.max_running));
}

void Scheduler::submit(Request request) {
  queues_.waiting.push_back(&groups_.add(std::move(request), config_.page_tokens, config_.token_bytes));
}

void Scheduler::end(Sequence& s) {
  if (s.state == Sequence::State::kEnded) return;
  if (s.state == Sequence::State::kRunning) erase_from(queues_.running, &s);
  if (s.state == Sequence::State::kParked) erase_from(queues_.parked, &s);
  Group* group = s.group;
  residency_.discard(s);
  s.state = Sequence::State::kEnded;
  if (--group->unfinished > 0) return;
  residency_.discard_prompt(*group);
  erase_from(queues_.waiting, group);
  erase_from(queues_.prefilling, group);
  groups_.erase(*group);
}

void Scheduler::clear() {
  while (!groups_.all().empty()) {
    Group& group = *groups_.all().back();
    for (int32_t i = 0, alive = group.unfinished; alive > 0; ++i) {
      if (!group.members[size_t(i)].unfinished()) continue;
      --alive;
      end(group.members[size_t(i)]);
    }
  }
}

const std::vector<Piece>& Scheduler::schedule(uint32_t version, bool admit) {
  pieces_.clear();
  park_waiting_for_version(version);
  resume_parked(version);
  grow_running(version);
  // The last running sequence was preempted for older ones, which are not running yet: resume those.
  if (queues_.running.empty()) resume_parked(version);
  for (Sequence* s : queues_.running) {
    pieces_.push_back({s->group, s, &s->last_token, 1, s->position(), s->table_row, 1});
  }
  prefill_.add_chunks(pieces_, version, admit);
  return pieces_;
}

void Scheduler::park_waiting_for_version(uint32_t version) {
  if (!groups_.any_planned()) return;
  for (size_t i = 0; i < queues_.running.size();) {
    Sequence* s = queues_.running[i];
    if (s->runnable(version)) {
      ++i;
      continue;
    }
    queues_.running.erase(queues_.running.begin() + int64_t(i));
    residency_.park(*s);
    insert_sorted(queues_.parked, s);
  }
}

void Scheduler::resume_parked(uint32_t version) {
  for (size_t i = 0; i < queues_.parked.size() && int32_t(queues_.running.size()) < config_.max_running;) {
    Sequence* s = queues_.parked[i];
    if (!s->runnable(version)) {
      ++i;
      continue;
    }
    // Reserves one page for each running sequence, so that a resumed sequence is not swapped out again
    // immediately. If none is running, the first sequence of the queue gets its pages in any case.
    const int32_t need = residency_.resume_need(*s), reserve = int32_t(queues_.running.size());
    const bool fits = queues_.running.empty() ? preemption_.make_room(need, *s->group, s, version)
                                              : need == 0 || need + reserve <= pool_.free_pages();
    if (!fits) return;
    // searched by value, since make_room may have parked other sequences before it
    erase_from(queues_.parked, s);
    residency_.resume(*s);
    insert_sorted(queues_.running, s);
    i = 0;
  }
}

void Scheduler::grow_running(uint32_t version) {
  for (size_t i = 0; i < queues_.running.size();) {
    Sequence* s = queues_.running[i];
    if (!residency_.must_grow(*s)) {
      ++i;
      continue;
    }
    if (pool_.free_pages() > 0) {
      residency_.grow(*s);
      ++i;
      continue;
    }
    if (!preemption_.make_room(1, *s->group, s, version) && s->state == Sequence::State::kRunning) {
      preemption_.preempt_sequence(*s);
    }
    i = 0;  // starts again, since any sequence may have been removed from the list
  }
}

}  // namespace hone::engine
