// Groups by request and by order, and the versions that their plans need. Tried mutants, all killed: an erased group
// still counted as planned; its id kept; the newest needed version for the oldest; runnable only if all are.
#include "engine/group_book.h"

#include "check.h"

namespace engine_group_book_test {

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
  GroupBook book;
  Group& a = book.add(request_of(70), 16);
  Group& b = book.add(request_of(30), 16);
  EXPECT_TRUE(book.find(70) == &a && book.find(30) == &b && book.find(1) == nullptr);
  EXPECT_TRUE(a.order < b.order);
  EXPECT_TRUE(book.all()[0].get() == &a && book.all()[1].get() == &b);
  book.erase(a);
  EXPECT_TRUE(book.find(70) == nullptr && book.find(30) == &b);
  EXPECT_EQ(book.all().size(), size_t(1));
  EXPECT_TRUE(book.add(request_of(70), 16).order > b.order);  // the id may come again, and stands at the end
}

TEST(the_oldest_version_that_an_unfinished_sequence_needs) {
  GroupBook book;
  EXPECT_TRUE(!book.any_planned() && !book.oldest_needed_version());
  book.add(request_of(1), 16);
  EXPECT_TRUE(!book.any_planned() && !book.oldest_needed_version());
  Group& late = book.add(request_of(2, {{{0, 7}}, {{0, 9}}}), 16);
  Group& early = book.add(request_of(3, {{{0, 5}, {1, 8}}, {{0, 6}}}), 16);
  EXPECT_TRUE(book.any_planned());
  EXPECT_EQ(*book.oldest_needed_version(), 5u);
  early.members[0].generated = 1;  // its next token is of version 8
  EXPECT_EQ(*book.oldest_needed_version(), 6u);
  early.members[1].state = Sequence::State::kEnded;
  EXPECT_EQ(*book.oldest_needed_version(), 7u);
  book.erase(late);
  EXPECT_EQ(*book.oldest_needed_version(), 8u);
  book.erase(early);
  EXPECT_TRUE(!book.any_planned() && !book.oldest_needed_version());
}

TEST(runnable_if_anybody_is) {
  GroupBook book;
  EXPECT_TRUE(!book.runnable(1));
  book.add(request_of(1, {{{0, 2}}, {{0, 3}}}), 16);
  EXPECT_TRUE(!book.runnable(1) && book.runnable(2) && book.runnable(3));
  Group& any = book.add(request_of(2), 16);
  EXPECT_TRUE(book.runnable(1));
  for (Sequence& s : any.members) s.state = Sequence::State::kEnded;
  EXPECT_TRUE(!book.runnable(1));
}

}  // namespace engine_group_book_test
