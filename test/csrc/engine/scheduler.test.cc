// Tests the scheduler without a network: each row writes a mark at its position in its page, and checks that
// its block table leads to the marks of its own history. Faults put into the code, each detected: the partial
// prompt page shared instead of copied; private pages restored one page off; the prompt's pages not saved; no
// preemption within a group; a sequence that waits for its planned version keeps its slot; older sequences
// that only keep pages not resumed when the last running one is preempted.
#include "engine/scheduler.h"

#include <algorithm>
#include <map>

#include "check.h"

namespace engine_scheduler_test {

using namespace hone;
using namespace hone::engine;
using namespace hone::test;

namespace {

model::ModelConfig tiny() {
  model::ModelConfig c;
  c.vocabulary = 32, c.width = 16, c.layers = 2, c.heads = 2, c.kv_heads = 1, c.head_dim = 4, c.mlp_width = 32;
  return c;
}

EngineConfig config_of(int32_t running, int32_t pages, int32_t step_tokens) {
  EngineConfig c;
  c.max_running = running, c.pages = pages, c.step_tokens = step_tokens, c.max_context = 256;
  return c;
}

/// A scheduler, its page pool, and a step that writes marks to pages instead of computing.
struct World {
  explicit World(const EngineConfig& c) : config(c), pool(tiny(), c.pages, c.page_tokens), scheduler(c, pool) {}

  uint64_t submit(int32_t prompt, int32_t count, int32_t max_tokens, std::vector<std::vector<VersionRun>> plan = {}) {
    Request r;
    r.id = next_id++;
    r.prompt.assign(size_t(prompt), 1);
    r.count = count, r.max_tokens = max_tokens, r.plan = std::move(plan);
    for (int32_t a = 0; a < count; ++a) lengths[{r.id, a}] = 0;
    scheduler.submit(std::move(r));
    return next_id - 1;
  }

  float* slot(int32_t row, int32_t position) {
    const TensorView tables = scheduler.block_tables();
    const int32_t page = tables.row<int32_t>(row)[position / config.page_tokens];
    return pool.layer(1).values.row<float>(page) + position % config.page_tokens;
  }
  static float mark(const Group& g, int32_t attempt, int32_t position) {
    const int32_t owner = position < g.prompt_tokens() ? 0 : 1 + attempt;
    return float(g.order * 100000 + uint64_t(owner) * 1000 + uint64_t(position));
  }

  /// Runs one step; returns false if nothing could run.
  bool step(uint32_t version = 1, bool admit = true) {
    const std::vector<Piece>& pieces = scheduler.schedule(version, admit);
    if (pieces.empty()) return false;
    std::vector<Sequence*> sampled;
    int32_t decoding = 0, rows = 0;
    for (const Piece& p : pieces) {
      const int32_t attempt = p.sequence ? p.sequence->attempt : 0;
      rows += p.rows;
      decoding += p.sequence != nullptr;
      for (int32_t i = 0; i < p.rows; ++i) *slot(p.table_row, p.position + i) = mark(*p.group, attempt, p.position + i);
    }
    for (const Piece& p : pieces) {
      const int32_t attempt = p.sequence ? p.sequence->attempt : 0;
      for (int32_t t = 0; t < p.position + p.rows; ++t) EXPECT_EQ(*slot(p.table_row, t), mark(*p.group, attempt, t));
      if (p.sequence) sampled.push_back(p.sequence);
      else if (p.samples > 0) {
        for (Sequence& s : p.group->members) {
          if (s.unfinished()) sampled.push_back(&s);
        }
      }
    }
    EXPECT_TRUE(decoding <= config.max_running);
    EXPECT_TRUE(rows <= std::max(config.step_tokens, decoding + 1));
    scheduler.advance_prompts(version);
    for (Sequence* s : sampled) {
      versions[{s->group->request.id, s->attempt}].push_back(version);
      ++lengths[{s->group->request.id, s->attempt}];
      if (s->accept(7, {}) != Finish::kRunning) scheduler.end(*s);
    }
    return true;
  }

  EngineConfig config;
  PagePool pool;
  Scheduler scheduler;
  uint64_t next_id = 1;
  std::map<std::pair<uint64_t, int32_t>, int32_t> lengths;  // number of tokens by request and attempt
  std::map<std::pair<uint64_t, int32_t>, std::vector<uint32_t>> versions;
};

}  // namespace

TEST(a_prompt_is_prefilled_once_and_its_full_pages_are_shared) {
  World w(config_of(8, 64, 512));
  w.submit(40, 4, 3);  // two full pages and a partial one
  w.step();
  EXPECT_EQ(w.pool.total() - w.pool.free_pages(), 3);
  w.step();  // four attempts decode: three have copies of the partial page, the fourth has the original
  EXPECT_EQ(w.scheduler.running(), int64_t(4));
  EXPECT_EQ(w.pool.total() - w.pool.free_pages(), 2 + 4);
  while (w.step()) {
  }
  EXPECT_EQ(w.pool.free_pages(), w.pool.total());
}

TEST(decoding_rows_come_first_and_prompts_use_what_is_left) {
  World w(config_of(8, 64, 20));
  w.submit(10, 6, 9);
  w.step(), w.step();
  w.submit(50, 1, 2);
  const std::vector<Piece>& pieces = w.scheduler.schedule(1, true);
  EXPECT_EQ(pieces.size(), size_t(7));
  EXPECT_TRUE(pieces[5].sequence != nullptr && pieces[6].sequence == nullptr);
  EXPECT_EQ(pieces[6].rows, 14);
  EXPECT_EQ(pieces[6].samples, 0);
}

TEST(a_full_batch_still_prefills_one_row_a_step) {
  World w(config_of(3, 64, 1));
  w.submit(4, 2, 20);
  for (int i = 0; i < 6; ++i) w.step();
  w.submit(5, 1, 2);
  for (int i = 0; i < 5; ++i) w.step();
  EXPECT_EQ((w.lengths[{2, 0}]), 1);
}

TEST(a_prompt_waits_for_a_slot_of_its_own) {
  World w(config_of(2, 64, 50));
  w.submit(40, 2, 5);
  w.submit(10, 1, 5);
  EXPECT_EQ(w.scheduler.schedule(1, true).size(), size_t(1));  // ten rows are left, but the first request needs both slots
}

TEST(a_page_is_kept_for_every_sequence_that_runs) {
  World w(config_of(4, 4, 64));
  w.submit(20, 1, 30);
  w.step(), w.step();
  w.submit(17, 1, 5);
  // the second prompt waits, because both free pages are reserved
  const std::vector<Piece>& pieces = w.scheduler.schedule(1, true);
  EXPECT_TRUE(pieces.size() == 1 && pieces[0].sequence != nullptr);

  World attempts(config_of(4, 3, 64));
  attempts.submit(16, 3, 5);
  attempts.step(), attempts.step();
  // the last page is reserved for the sequence that runs
  EXPECT_EQ(attempts.scheduler.running(), int64_t(1));
}

TEST(more_attempts_than_slots_run_one_after_the_other) {
  World w(config_of(3, 64, 64));
  w.submit(20, 8, 5);
  while (w.step()) {
  }
  for (const auto& [who, n] : w.lengths) EXPECT_EQ(n, 5);
  EXPECT_EQ(w.pool.free_pages(), w.pool.total());
}

TEST(the_youngest_request_is_preempted_and_comes_back_with_its_keys) {
  World w(config_of(8, 8, 128));
  w.submit(30, 2, 40);
  w.submit(30, 2, 40);
  while (w.step()) {
  }
  EXPECT_TRUE(w.scheduler.preemptions() > 0);
  for (const auto& [who, n] : w.lengths) EXPECT_EQ(n, 40);
  EXPECT_EQ(w.pool.free_pages(), w.pool.total());
}

TEST(one_group_larger_than_the_cache_runs_its_attempts_in_turn) {
  World w(config_of(8, 6, 128));
  w.submit(20, 8, 60);  // needs 5 pages per attempt (one of them shared), and one for a copy of the partial page
  while (w.step()) {
  }
  for (const auto& [who, n] : w.lengths) EXPECT_EQ(n, 60);
  EXPECT_EQ(w.pool.free_pages(), w.pool.total());
}

TEST(no_new_prompt_is_started_without_admit) {
  World w(config_of(4, 64, 16));
  w.submit(24, 1, 2);
  w.submit(4, 1, 2);
  w.step();
  EXPECT_TRUE(w.scheduler.prefilling());
  w.step(1, false);
  EXPECT_TRUE(!w.scheduler.prefilling());
  EXPECT_EQ((w.lengths[{2, 0}]), 0);
}

TEST(a_planned_sequence_waits_for_its_version_without_holding_a_slot) {
  World w(config_of(1, 64, 64));
  w.submit(5, 1, 4, {{{0, 1}, {2, 2}}});
  w.submit(5, 1, 4, {{{0, 1}}});
  for (int i = 0; i < 20 && w.step(1); ++i) {
  }
  EXPECT_EQ((w.lengths[{1, 0}]), 2);
  EXPECT_EQ((w.lengths[{2, 0}]), 4);
  EXPECT_EQ(*w.scheduler.oldest_needed_version(), 2u);
  while (w.step(2)) {
  }
  EXPECT_TRUE((w.versions[{1, 0}] == std::vector<uint32_t>{1, 1, 2, 2}));
}

TEST(sequences_waiting_for_a_version_give_their_pages_first) {
  World w(config_of(4, 6, 64));
  w.submit(60, 1, 4, {{{0, 1}, {1, 2}}});  // takes four of six pages, then waits
  w.submit(40, 1, 30);
  for (int i = 0; i < 40 && w.step(1); ++i) {
  }
  EXPECT_EQ((w.lengths[{2, 0}]), 30);
  while (w.step(2)) {
  }
  EXPECT_EQ((w.lengths[{1, 0}]), 4);
  EXPECT_EQ(w.pool.free_pages(), w.pool.total());
}

TEST(random_load_always_finishes_and_leaks_nothing) {
  for (int round = 0; round < 150; ++round) {
    const auto pages = int32_t(random_int(5, 24));
    World w(config_of(int32_t(random_int(1, 9)), pages, int32_t(random_int(1, 60))));
    std::map<uint64_t, int32_t> wanted;
    uint32_t version = 1;
    const int64_t steps_allowed = 20000;
    int64_t steps = 0;
    for (int requests = int(random_int(1, 12)); requests > 0 || !w.scheduler.groups().empty();) {
      if (requests > 0 && random_int(0, 3) == 0) {
        const auto prompt = int32_t(random_int(1, 40)), count = int32_t(random_int(1, 5));
        const auto tokens = int32_t(random_int(1, std::min<int64_t>(80, 16 * (pages - 1) - prompt)));
        wanted[w.submit(prompt, count, tokens)] = tokens;
        --requests;
      }
      if (!w.scheduler.groups().empty() && random_int(0, 40) == 0) {
        const auto& groups = w.scheduler.groups();
        Group& victim = *groups[size_t(random_int(0, int64_t(groups.size()) - 1))];
        Sequence& s = victim.members[size_t(random_int(0, victim.request.count - 1))];
        if (s.unfinished()) {
          wanted[victim.request.id] = -1;  // not all of its attempts reach their end any more
          w.scheduler.end(s);
        }
      }
      if (random_int(0, 9) == 0 && !w.scheduler.prefilling()) ++version;
      const bool had_work = !w.scheduler.groups().empty();
      EXPECT_EQ(w.step(version), had_work);
      if (++steps > steps_allowed) {
        EXPECT_TRUE(steps <= steps_allowed);
        return;
      }
    }
    EXPECT_EQ(w.pool.free_pages(), w.pool.total());
    EXPECT_EQ(w.scheduler.waiting() + w.scheduler.running(), int64_t(0));
    for (const auto& [who, n] : w.lengths) {
      if (wanted[who.first] >= 0) EXPECT_EQ(n, wanted[who.first]);
    }
  }
}

TEST(random_plans_always_finish_in_order) {
  for (int round = 0; round < 200; ++round) {
    const auto pages = int32_t(random_int(6, 24));
    World w(config_of(int32_t(random_int(1, 6)), pages, int32_t(random_int(1, 60))));
    std::map<std::pair<uint64_t, int32_t>, std::vector<uint32_t>> wanted;
    for (int i = 0; i < 8; ++i) {
      const auto prompt = int32_t(random_int(1, 40)), count = int32_t(random_int(1, 4));
      const auto tokens = int32_t(random_int(1, std::min<int64_t>(40, 16 * (pages - 1) - prompt)));
      const auto first = uint32_t(random_int(1, 4));
      std::vector<std::vector<VersionRun>> plan;
      for (int32_t a = 0; a < count; ++a) {
        plan.push_back({{0, first}});
        std::vector<uint32_t>& versions = wanted[{w.next_id, a}];
        for (int32_t t = 0; t < tokens; ++t) {
          uint32_t v = plan.back().back().version;
          if (t > 0 && random_int(0, 5) == 0) plan.back().push_back({t, ++v});
          versions.push_back(v);
        }
      }
      w.submit(prompt, count, tokens, plan);
    }
    for (uint32_t version = 1; !w.scheduler.groups().empty(); ++version) {
      while (w.scheduler.oldest_needed_version() == version) {
        if (w.step(version)) continue;
        EXPECT_TRUE(!"work is left but nothing was scheduled");
        return;
      }
    }
    EXPECT_TRUE(w.versions == wanted);
    EXPECT_EQ(w.pool.free_pages(), w.pool.total());
  }
}

TEST(clear_ends_everything) {
  World w(config_of(4, 12, 20));
  for (int i = 0; i < 6; ++i) w.submit(20, 3, 40);
  for (int i = 0; i < 30; ++i) w.step();
  w.scheduler.clear();
  EXPECT_TRUE(w.scheduler.groups().empty());
  EXPECT_EQ(w.pool.free_pages(), w.pool.total());
  EXPECT_TRUE(!w.step());
}

}  // namespace engine_scheduler_test
