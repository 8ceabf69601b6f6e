// Prefill: which prompts are started, and how many of their rows a step has; scheduler.test.cc tests the same
// code with random workloads.
#include "engine/prefill.h"

#include "check.h"
#include "engine/prefill_world.h"

namespace engine_prefill_test {

using namespace hone;
using namespace hone::engine;

TEST(a_step_takes_prompts_in_order_until_its_rows_are_used) {
  PrefillWorld w(8, 64, 30);
  Group &a = w.submit(20, 2), &b = w.submit(25, 1);
  std::vector<Piece> pieces = w.prefill_once();
  EXPECT_EQ(pieces.size(), size_t(2));
  EXPECT_TRUE(pieces[0].group == &a && pieces[0].rows == 20 && pieces[0].position == 0 && pieces[0].samples == 2);
  EXPECT_TRUE(pieces[1].group == &b && pieces[1].rows == 10 && pieces[1].position == 0 && pieces[1].samples == 0);
  EXPECT_TRUE(w.queues.prefilling == std::vector<Group*>{&b} && w.queues.waiting.empty());
  EXPECT_TRUE((w.queues.parked == std::vector<Sequence*>{&a.members[0], &a.members[1]}));
  pieces = w.prefill_once(4);
  EXPECT_EQ(pieces.size(), size_t(1));
  EXPECT_TRUE(pieces[0].group == &b && pieces[0].rows == 15 && pieces[0].position == 10 && pieces[0].samples == 1);
  EXPECT_TRUE(pieces[0].ids == b.request.prompt.data() + 10);
  EXPECT_EQ(b.members[0].oldest_kv, 4u);
  EXPECT_TRUE(b.members[0].state == Sequence::State::kParked && b.prompt == Group::Prompt::kResident);
}

TEST(nobody_is_started_without_admit_or_before_somebody_parked) {
  PrefillWorld w(8, 64, 30);
  Group& a = w.submit(5, 1);
  EXPECT_TRUE(w.prefill_once(1, false).empty());
  EXPECT_EQ(w.prefill_once().size(), size_t(1));
  w.submit(5, 1);
  EXPECT_TRUE(w.prefill_once().empty());  // the first request is parked and could run
  w.run(a);
  EXPECT_EQ(w.prefill_once().size(), size_t(1));
}

TEST(whoever_waits_for_a_version_lets_others_pass) {
  PrefillWorld w(8, 64, 30);
  w.submit(5, 1, 2);
  Group& b = w.submit(5, 1);
  const std::vector<Piece> pieces = w.prefill_once(1);
  EXPECT_TRUE(pieces.size() == 1 && pieces[0].group == &b);
}

TEST(slots_are_promised_to_prompts_in_progress_and_taken_by_those_that_run) {
  PrefillWorld w(3, 64, 100);
  Group& a = w.submit(5, 1);
  w.prefill_once();
  w.run(a);
  Group& b = w.submit(5, 2);
  w.submit(5, 1);
  const std::vector<Piece> pieces = w.prefill_once();
  EXPECT_TRUE(pieces.size() == 1 && pieces[0].group == &b);
}

TEST(at_least_one_row_and_what_decoding_leaves) {
  PrefillWorld w(8, 64, 4);
  Group& a = w.submit(3, 2);
  w.prefill_once();
  w.run(a);
  w.submit(9, 1);
  EXPECT_EQ(w.prefill_once()[0].rows, 2);
  w.config.step_tokens = 1;
  EXPECT_EQ(w.prefill_once()[0].rows, 1);
}

TEST(a_prompt_needs_its_pages_and_one_more_for_whoever_runs_or_will) {
  PrefillWorld w(8, 5, 100);
  Group& a = w.submit(17, 1);
  w.prefill_once();
  w.run(a);
  w.submit(17, 1);  // needs two pages, one more for its attempt and one for a's: only three are free
  EXPECT_TRUE(w.prefill_once().empty());
  PrefillWorld larger(8, 6, 100);
  Group& b = larger.submit(17, 1);
  larger.prefill_once();
  larger.run(b);
  larger.submit(17, 1);
  EXPECT_EQ(larger.prefill_once().size(), size_t(1));
}

}  // namespace engine_prefill_test
