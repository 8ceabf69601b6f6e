// The objects that Prefill and Preemption work on, without a scheduler.
#pragma once

#include "engine/prefill.h"

namespace hone::engine {

struct PrefillWorld {
  static model::ModelConfig tiny() {
    model::ModelConfig c;
    c.vocabulary = 32, c.width = 16, c.layers = 2, c.heads = 2, c.kv_heads = 1, c.head_dim = 4, c.mlp_width = 32;
    return c;
  }
  static EngineConfig config_of(int32_t running, int32_t pages, int32_t step_tokens) {
    EngineConfig c;
    c.max_running = running, c.pages = pages, c.step_tokens = step_tokens, c.max_context = 256;
    return c;
  }

  PrefillWorld(int32_t running, int32_t pages, int32_t step_tokens)
      : config(config_of(running, pages, step_tokens)), pool(tiny(), pages, 16), residency(pool, running, 256) {}

  /// A waiting group of `count` attempts whose prompt has `prompt` tokens; if `version` is not 0, its plan
  /// needs that weight version.
  Group& submit(int32_t prompt, int32_t count, uint32_t version = 0) {
    Request r;
    r.id = next_id++;
    r.prompt.assign(size_t(prompt), 1);
    r.count = count, r.max_tokens = 100;
    if (version > 0) r.plan.assign(size_t(count), {{0, version}});
    Group& group = groups.add(std::move(r), 16);
    queues.waiting.push_back(&group);
    return group;
  }
  /// Runs one step that only prefills.
  std::vector<Piece> prefill_once(uint32_t version = 1, bool admit = true) {
    std::vector<Piece> pieces;
    prefill.add_chunks(pieces, version, admit);
    prefill.advance(pieces, version);
    return pieces;
  }
  /// Makes the parked attempts of a group run, with one token each.
  void run(Group& group) {
    for (Sequence& s : group.members) {
      s.accept(1, {});
      erase_from(queues.parked, &s);
      residency.resume(s);
      insert_sorted(queues.running, &s);
    }
  }
  int32_t used() const { return pool.total() - pool.free_pages(); }

  EngineConfig config;
  PagePool pool;
  Residency residency;
  GroupTable groups;
  Queues queues;
  Preemption preemption{pool, residency, groups, queues};
  Prefill prefill{config, pool, residency, preemption, queues};
  uint64_t next_id = 1;
};

}  // namespace hone::engine
