// Faults put into the code, each detected: version_at with `>=` instead of `>`; max_tokens checked before the
// stop id; position without the - 1.
#include "engine/sequence.h"

#include "check.h"

namespace engine_sequence_test {

using namespace hone;
using namespace hone::engine;

namespace {

Group make(int32_t prompt, int32_t count, int32_t max_tokens, std::vector<std::vector<VersionRun>> plan = {}) {
  Request r;
  r.prompt.assign(size_t(prompt), 1);
  r.count = count, r.max_tokens = max_tokens, r.stop_ids = {9}, r.plan = std::move(plan);
  return Group(std::move(r), 0, 16);
}

}  // namespace

TEST(full_prompt_pages_are_shared_and_the_rest_is_not) {
  EXPECT_EQ(make(15, 1, 1).shared_pages, 0);
  EXPECT_EQ(make(16, 1, 1).shared_pages, 1);
  EXPECT_EQ(make(47, 1, 1).shared_pages, 2);
}

TEST(the_next_row_stands_where_the_last_token_does) {
  Group g = make(10, 1, 5);
  Sequence& s = g.members[0];
  s.accept(3, {});
  EXPECT_EQ(s.position(), 10);
  s.accept(4, {});
  EXPECT_EQ(s.position(), 11);
  EXPECT_EQ(s.last_token, 4);
}

TEST(a_sequence_ends_by_stop_id_stop_string_or_length_in_this_order) {
  const std::vector<std::string> bytes = {"a", "b", "", "", "", "", "", "", "", "ab"};
  Group by_id = make(4, 1, 1);
  EXPECT_TRUE(by_id.members[0].accept(9, bytes) == Finish::kEos);

  Request r;
  r.prompt = {1}, r.max_tokens = 2, r.stop_strings = {"ab"};
  Group by_string(r, 0, 16);
  EXPECT_TRUE(by_string.members[0].accept(0, bytes) == Finish::kRunning);
  EXPECT_TRUE(by_string.members[0].accept(1, bytes) == Finish::kStop);

  Group by_length = make(4, 1, 2);
  EXPECT_TRUE(by_length.members[0].accept(1, bytes) == Finish::kRunning);
  EXPECT_TRUE(by_length.members[0].accept(1, bytes) == Finish::kLength);
}

TEST(a_stop_string_may_begin_in_tokens_sampled_before) {
  const std::vector<std::string> bytes = {"a", "b", "c"};
  Request r;
  r.prompt = {2, 0, 0, 1}, r.count = 2, r.max_tokens = 3, r.stop_strings = {"aabc"};
  const auto first = [&](int32_t begun) {
    r.begun = begun;
    Group g(r, 0, 16, bytes);
    EXPECT_TRUE(g.members[0].stop == g.members[1].stop);
    return g.members[1].accept(2, bytes);
  };
  EXPECT_TRUE(first(3) == Finish::kStop);
  EXPECT_TRUE(first(2) == Finish::kRunning);  // the prompt itself has no part in a match
  EXPECT_TRUE(first(0) == Finish::kRunning);
}

TEST(token_ids_without_bytes_match_nothing) {
  Request r;
  r.prompt = {1}, r.max_tokens = 3, r.stop_strings = {"x"};
  Group g(r, 0, 16);
  EXPECT_TRUE(g.members[0].accept(7, {"x"}) == Finish::kRunning);
}

TEST(the_plan_says_which_version_the_next_token_needs) {
  Group g = make(4, 2, 9, {{{0, 3}, {2, 5}}, {{0, 3}}});
  Sequence& s = g.members[0];
  for (const uint32_t version : {3u, 3u, 5u, 5u}) {
    EXPECT_EQ(*s.needed_version(), version);
    EXPECT_TRUE(s.runnable(version) && !s.runnable(version + 1) && !s.runnable(version - 1));
    s.accept(1, {});
  }
  EXPECT_TRUE(g.runnable(3) && g.runnable(5) && !g.runnable(4));
  s.state = Sequence::State::kEnded;
  EXPECT_TRUE(!s.needed_version().has_value());
  EXPECT_TRUE(!g.runnable(5));
  EXPECT_TRUE(make(4, 1, 1).members[0].runnable(77));  // a sequence without a plan runs with any version
}

TEST(order_is_by_request_then_attempt) {
  Group a = make(4, 2, 1), b = make(4, 1, 1);
  b.order = 1;
  EXPECT_TRUE(a.members[0].before(a.members[1]));
  EXPECT_TRUE(a.members[1].before(b.members[0]));
  EXPECT_TRUE(!b.members[0].before(a.members[0]));
}

}  // namespace engine_sequence_test
