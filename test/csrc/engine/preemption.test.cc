// Preemption: which sequences lose pages to which; scheduler.test.cc tests the same code with random
// workloads.
#include "engine/preemption.h"

#include "check.h"
#include "engine/prefill_world.h"

namespace engine_preemption_test {

using namespace hone;
using namespace hone::engine;

namespace {

/// Three requests, each with one running attempt and two pages, in a KV cache of six pages.
struct Full : PrefillWorld {
  explicit Full(uint32_t first_version = 0) : PrefillWorld(8, 6, 100) {
    for (Group** g : {&a, &b, &c}) {
      *g = &submit(20, 1, g == &a ? first_version : 0);
      queues.waiting.clear();
      residency.begin_prompt(**g);
      queues.prefilling = {*g};
      prefill.advance({{*g, nullptr, nullptr, 20, 0, (*g)->table_row, 1}}, 1);
      run(**g);
    }
  }
  Group *a = nullptr, *b = nullptr, *c = nullptr;
};

}  // namespace

TEST(the_youngest_goes_first_and_only_as_many_as_it_takes) {
  Full w;
  EXPECT_EQ(w.pool.free_pages(), 0);
  EXPECT_TRUE(w.preemption.make_room(1, *w.a, &w.a->members[0], 1));
  EXPECT_EQ(w.pool.free_pages(), 2);
  EXPECT_TRUE((w.queues.running == std::vector<Sequence*>{&w.a->members[0], &w.b->members[0]}));
  EXPECT_TRUE(w.queues.parked == std::vector<Sequence*>{&w.c->members[0]});
  EXPECT_TRUE(!w.c->members[0].resident() && w.c->prompt == Group::Prompt::kSaved);
  EXPECT_EQ(w.preemption.count(), int64_t(1));
  EXPECT_TRUE(w.preemption.make_room(2, *w.a, &w.a->members[0], 1));  // the two pages are already free
  EXPECT_EQ(w.preemption.count(), int64_t(1));
  EXPECT_TRUE(w.preemption.make_room(3, *w.a, &w.a->members[0], 1));
  EXPECT_TRUE(w.queues.running == std::vector<Sequence*>{&w.a->members[0]});
}

TEST(an_older_request_keeps_its_pages) {
  Full w;
  EXPECT_TRUE(!w.preemption.make_room(1, *w.c, &w.c->members[0], 1));
  EXPECT_EQ(w.preemption.count(), int64_t(0));
  EXPECT_EQ(w.used(), 6);
}

TEST(who_waits_for_a_version_goes_before_the_youngest) {
  Full w(2);
  // request a loses pages although it is the oldest, because it waits for a version
  EXPECT_TRUE(w.preemption.make_room(1, *w.c, &w.c->members[0], 1));
  EXPECT_TRUE(!w.a->members[0].resident() && w.b->members[0].resident() && w.c->members[0].resident());
}

TEST(a_half_prefilled_prompt_waits_again) {
  PrefillWorld w(8, 4, 24);
  Group& a = w.submit(20, 1);
  Group& b = w.submit(30, 1);
  w.residency.begin_prompt(a);
  w.residency.begin_prompt(b);
  w.queues.waiting.clear();
  w.queues.prefilling = {&a, &b};
  b.prefilled = 4;
  EXPECT_TRUE(w.preemption.make_room(2, a, nullptr, 1));
  EXPECT_TRUE(w.queues.prefilling == std::vector<Group*>{&a} && w.queues.waiting == std::vector<Group*>{&b});
  EXPECT_TRUE(b.prefilled == 0 && b.prompt_pages.empty() && b.prompt == Group::Prompt::kWaiting);
  EXPECT_EQ(w.preemption.count(), int64_t(1));
}

TEST(a_request_alone_gives_up_its_own_attempts_from_behind) {
  PrefillWorld w(8, 16, 100);
  Group& a = w.submit(20, 3);
  w.prefill_once();
  w.run(a);
  const int32_t all = w.pool.free_pages();
  EXPECT_TRUE(w.preemption.make_room(all + 1, a, &a.members[2], 1));  // makes room for members[2], which keeps its own pages
  EXPECT_TRUE((w.queues.running == std::vector<Sequence*>{&a.members[0], &a.members[2]}));
  EXPECT_TRUE(w.preemption.make_room(all + 2, a, &a.members[2], 1));
  EXPECT_TRUE(w.queues.running == std::vector<Sequence*>{&a.members[2]});
  EXPECT_TRUE(!w.preemption.make_room(16, a, &a.members[2], 1));  // no other sequence is left to give up pages
  EXPECT_TRUE(a.members[2].resident());
}

}  // namespace engine_preemption_test
