// GroupTable: look-up by request id, order, and the versions that plans need. Faults put into the code, each
// detected: an erased group still counted as planned; its id kept; the newest needed version instead of the
// oldest; runnable only if all groups are.
#include "engine/group_table.h"

#include "check.h"

namespace engine_group_table_test {

using namespace hone;
using namespace hone::engine;

namespace {

Request request_of(uint64_t id, std::vector<std::vector<VersionRun>> plan = {}) {
  Request r;
  r.id = id;
  r.prompt = {1, 2, 3};
  r.count = 2, r.max_tokens = 4, r.plan = std::move(plan);
  return r;
}

}  // namespace

TEST(a_group_is_found_by_its_request_until_it_is_erased) {
  GroupTable groups;
  Group& a = groups.add(request_of(70), 16);
  Group& b = groups.add(request_of(30), 16);
  EXPECT_TRUE(groups.find(70) == &a && groups.find(30) == &b && groups.find(1) == nullptr);
  EXPECT_TRUE(a.order < b.order);
  EXPECT_TRUE(groups.all()[0].get() == &a && groups.all()[1].get() == &b);
  groups.erase(a);
  EXPECT_TRUE(groups.find(70) == nullptr && groups.find(30) == &b);
  EXPECT_EQ(groups.all().size(), size_t(1));
  EXPECT_TRUE(groups.add(request_of(70), 16).order > b.order);  // an id may be used again; the new group is last in order
}

TEST(the_oldest_version_that_an_unfinished_sequence_needs) {
  GroupTable groups;
  EXPECT_TRUE(!groups.any_planned() && !groups.oldest_needed_version());
  groups.add(request_of(1), 16);
  EXPECT_TRUE(!groups.any_planned() && !groups.oldest_needed_version());
  Group& late = groups.add(request_of(2, {{{0, 7}}, {{0, 9}}}), 16);
  Group& early = groups.add(request_of(3, {{{0, 5}, {1, 8}}, {{0, 6}}}), 16);
  EXPECT_TRUE(groups.any_planned());
  EXPECT_EQ(*groups.oldest_needed_version(), 5u);
  early.members[0].generated = 1;  // by its plan the next token needs version 8
  EXPECT_EQ(*groups.oldest_needed_version(), 6u);
  early.members[1].state = Sequence::State::kEnded;
  EXPECT_EQ(*groups.oldest_needed_version(), 7u);
  groups.erase(late);
  EXPECT_EQ(*groups.oldest_needed_version(), 8u);
  groups.erase(early);
  EXPECT_TRUE(!groups.any_planned() && !groups.oldest_needed_version());
}

TEST(runnable_if_anybody_is) {
  GroupTable groups;
  EXPECT_TRUE(!groups.runnable(1));
  groups.add(request_of(1, {{{0, 2}}, {{0, 3}}}), 16);
  EXPECT_TRUE(!groups.runnable(1) && groups.runnable(2) && groups.runnable(3));
  Group& any = groups.add(request_of(2), 16);
  EXPECT_TRUE(groups.runnable(1));
  for (Sequence& s : any.members) s.state = Sequence::State::kEnded;
  EXPECT_TRUE(!groups.runnable(1));
}

}  // namespace engine_group_table_test
