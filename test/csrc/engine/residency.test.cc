// Residency: numbers and contents of pages while sequences are resumed and swapped out; scheduler.test.cc
// tests the same code with random workloads. Faults put into the code, each detected: the needed pages
// without that of the next row; shared pages saved for every member.
#include "engine/residency.h"

#include "check.h"

namespace engine_residency_test {

using namespace hone;
using namespace hone::engine;

namespace {

model::ModelConfig tiny() {
  model::ModelConfig c;
  c.vocabulary = 32, c.width = 16, c.layers = 2, c.heads = 2, c.kv_heads = 1, c.head_dim = 4, c.mlp_width = 32;
  return c;
}

struct World {
  PagePool pool{tiny(), 32, 16};
  Residency residency{pool, 4, 256};

  /// A prefilled group whose sequences have one token each.
  Group prefilled(int32_t prompt, int32_t count) {
    Request r;
    r.prompt.assign(size_t(prompt), 1);
    r.count = count, r.max_tokens = 100;
    Group g(std::move(r), 0, 16);
    for (Sequence& s : g.members) s.group = &g;
    return g;
  }
  void prefill(Group& g) {
    residency.begin_prompt(g);
    for (size_t p = 0; p < g.prompt_pages.size(); ++p) mark(g.prompt_pages[p], 100.0f + float(p));
    residency.end_prompt(g);
    for (Sequence& s : g.members) s.group = &g, s.state = Sequence::State::kParked, s.accept(1, {});
  }
  void mark(int32_t page, float value) { pool.layer(1).keys.row<float>(page)[3] = value; }
  float marked(int32_t page) { return pool.layer(1).keys.row<float>(page)[3]; }
  int32_t used() const { return pool.total() - pool.free_pages(); }
  int32_t table(const Sequence& s, int32_t i) { return residency.block_tables().row<int32_t>(s.table_row)[i]; }
};

}  // namespace

TEST(resume_takes_exactly_what_resume_need_says) {
  for (const int32_t prompt : {1, 15, 16, 31, 32, 33, 47}) {
    World w;
    Group g = w.prefilled(prompt, 3);
    w.prefill(g);
    for (Sequence& s : g.members) {
      const int32_t need = w.residency.resume_need(s), before = w.used();
      w.residency.resume(s);
      EXPECT_EQ(w.used() - before, need);
      EXPECT_TRUE(!w.residency.must_grow(s));
      for (size_t p = 0; p < s.pages.size(); ++p) EXPECT_EQ(w.table(s, int32_t(p)), s.pages[p]);
    }
  }
}

TEST(full_pages_are_shared_and_the_partial_one_is_copied) {
  World w;
  Group g = w.prefilled(40, 3);
  w.prefill(g);
  const int32_t partial = g.prompt_pages[2];
  for (Sequence& s : g.members) w.residency.resume(s);
  for (const Sequence& s : g.members) {
    EXPECT_EQ(s.pages[0], g.prompt_pages[0]);
    EXPECT_EQ(s.pages[1], g.prompt_pages[1]);
    EXPECT_EQ(w.marked(s.pages[2]), 102.0f);
  }
  EXPECT_TRUE(g.members[0].pages[2] != g.members[1].pages[2]);
  EXPECT_EQ(g.members[2].pages[2], partial);  // the last sequence takes the original page
  EXPECT_EQ(g.prompt_pages.size(), size_t(2));
  EXPECT_EQ(w.pool.references(g.prompt_pages[0]), 4);
}

TEST(swapping_out_and_in_keeps_every_page) {
  World w;
  Group g = w.prefilled(40, 2);
  w.prefill(g);
  for (Sequence& s : g.members) w.residency.resume(s), w.mark(s.pages[2], 7.0f + float(s.attempt));
  for (Sequence& s : g.members) w.residency.swap_out(s);
  EXPECT_EQ(w.used(), 2);
  w.residency.swap_out_prompt(g);
  EXPECT_EQ(w.used(), 0);
  for (int32_t p = 0; p < 32; ++p) w.mark(p, -1.0f);
  for (Sequence& s : g.members) {
    const int32_t need = w.residency.resume_need(s), before = w.used();
    w.residency.resume(s);
    EXPECT_EQ(w.used() - before, need);
    EXPECT_EQ(w.marked(s.pages[0]), 100.0f);
    EXPECT_EQ(w.marked(s.pages[1]), 101.0f);
    EXPECT_EQ(w.marked(s.pages[2]), 7.0f + float(s.attempt));
  }
  EXPECT_TRUE(w.residency.swap_seconds() > 0);
}

TEST(a_parked_sequence_keeps_its_pages_and_gives_its_row) {
  World w;
  Group g = w.prefilled(20, 1);
  w.prefill(g);
  Sequence& s = g.members[0];
  w.residency.resume(s);
  const std::vector<int32_t> pages = s.pages;
  w.residency.park(s);
  EXPECT_EQ(s.table_row, -1);
  EXPECT_EQ(w.residency.resume_need(s), 0);
  w.residency.resume(s);
  EXPECT_TRUE(s.pages == pages);
}

TEST(a_member_that_ends_unstarted_frees_the_partial_page_with_the_last) {
  World w;
  Group g = w.prefilled(20, 2);
  w.prefill(g);
  w.residency.resume(g.members[0]);
  w.residency.discard(g.members[1]);
  EXPECT_EQ(g.prompt_pages.size(), size_t(1));
  w.residency.discard(g.members[0]);
  w.residency.discard_prompt(g);
  EXPECT_EQ(w.used(), 0);
}

TEST(a_saved_prompt_comes_back_without_the_partial_page_that_nobody_waits_for) {
  World w;
  Group g = w.prefilled(20, 2);
  w.prefill(g);
  w.residency.resume(g.members[0]);
  w.residency.swap_out(g.members[0]);
  w.residency.swap_out_prompt(g);
  EXPECT_EQ(w.used(), 0);
  w.residency.discard(g.members[1]);
  EXPECT_EQ(w.residency.resume_need(g.members[0]), 2);
  w.residency.resume(g.members[0]);
  EXPECT_EQ(w.used(), 2);
}

TEST(an_abandoned_prompt_leaves_nothing) {
  World w;
  Group g = w.prefilled(50, 1);
  w.residency.begin_prompt(g);
  g.prefilled = 17;
  w.residency.abandon_prompt(g);
  EXPECT_EQ(w.used(), 0);
  EXPECT_EQ(g.prefilled, 0);
  EXPECT_TRUE(g.prompt == Group::Prompt::kWaiting);
}

TEST(every_attempt_begins_with_the_state_of_its_prompt_and_keeps_its_own_without_pages) {
  PagePool pool(tiny(), 32, 16);
  Residency residency(pool, 4, 256, 3);
  Request r;
  r.prompt.assign(20, 1), r.count = 3, r.max_tokens = 100;
  Group g(std::move(r), 0, 16);
  residency.begin_prompt(g);
  EXPECT_TRUE((g.recurrent.host == std::vector<float>{0, 0, 0}));
  g.recurrent.data[0] = 1;
  residency.abandon_prompt(g);  // drops what was computed
  residency.begin_prompt(g);
  EXPECT_TRUE((g.recurrent.host == std::vector<float>{0, 0, 0}));
  for (int i = 0; i < 3; ++i) g.recurrent.data[i] = float(4 + i);
  residency.end_prompt(g);
  for (Sequence& s : g.members) s.group = &g, s.state = Sequence::State::kParked, s.accept(1, {});
  residency.resume(g.members[0]);
  g.members[0].recurrent.data[1] = 50;
  residency.swap_out(g.members[0]);
  residency.resume(g.members[1]);
  residency.discard(g.members[2]);  // this attempt ends before it was ever resumed
  EXPECT_TRUE(g.recurrent.empty());
  residency.resume(g.members[0]);
  EXPECT_TRUE((g.members[0].recurrent.host == std::vector<float>{4, 50, 6}));
  EXPECT_TRUE((g.members[1].recurrent.host == std::vector<float>{4, 5, 6}));
  residency.discard(g.members[1]);
  EXPECT_TRUE(g.members[1].recurrent.empty());
}

}  // namespace engine_residency_test
