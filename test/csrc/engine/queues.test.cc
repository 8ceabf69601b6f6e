// The order of the queues. Faults put into the code, each detected: insertion at the end; attempts in reverse
// order; the first element erased instead of the given one.
#include "engine/queues.h"

#include "check.h"

namespace engine_queues_test {

using namespace hone;
using namespace hone::engine;

namespace {

Group group_of(uint64_t order, int32_t count) {
  Request r;
  r.prompt = {1};
  r.count = count, r.max_tokens = 1;
  return Group(std::move(r), order, 16);
}

}  // namespace

TEST(groups_stand_in_the_order_of_submission) {
  Group first = group_of(3, 1), second = group_of(5, 1), third = group_of(8, 1);
  std::vector<Group*> queue;
  for (Group* g : {&second, &third, &first}) insert_sorted(queue, g);
  EXPECT_TRUE(queue == (std::vector<Group*>{&first, &second, &third}));
  erase_from(queue, &second);
  EXPECT_TRUE(queue == (std::vector<Group*>{&first, &third}));
  erase_from(queue, &second);  // not in the queue
  EXPECT_EQ(queue.size(), size_t(2));
}

TEST(attempts_stand_in_their_order_behind_those_of_older_groups) {
  Group old = group_of(1, 2), young = group_of(2, 2);
  for (Group* g : {&old, &young}) {
    for (Sequence& s : g->members) s.group = g;
  }
  Sequence *a = &old.members[0], *b = &old.members[1], *c = &young.members[0], *d = &young.members[1];
  std::vector<Sequence*> queue;
  for (Sequence* s : {c, b, d, a}) insert_sorted(queue, s);
  EXPECT_TRUE(queue == (std::vector<Sequence*>{a, b, c, d}));
}

TEST(attempts_without_a_slot_are_counted_one_by_one) {
  Group waiting = group_of(1, 4), prefilling = group_of(2, 3), cached = group_of(3, 2);
  waiting.unfinished = 3;  // one of its four attempts was aborted
  Queues queues;
  queues.waiting = {&waiting};
  queues.prefilling = {&prefilling};
  queues.parked = {&cached.members[0]};
  queues.running = {&cached.members[1]};
  EXPECT_EQ(queues.idle_attempts(), int64_t(3 + 3 + 1));
}

}  // namespace engine_queues_test
