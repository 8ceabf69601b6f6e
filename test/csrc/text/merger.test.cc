// Compares merging of ids with its definition: repeatedly merge the leftmost pair of the lowest rank. Faults
// put into the code: the rightmost pair of equal rank first; a candidate not checked before merging; previous
// not updated.
#include "text/merger.h"

#include <map>
#include <string>

#include "check.h"
#include "text/processor_time.h"

namespace text_merger_test {

using namespace hone::test;
using hone::text::Merger;
using Ids = std::vector<int32_t>;

namespace {

struct Rule {
  int32_t rank, both;
};
using Rules = std::map<std::pair<int32_t, int32_t>, Rule>;

Ids merged_by_definition(const Rules& rules, Ids ids) {
  for (;;) {
    size_t best = ids.size();
    Rule found{INT32_MAX, -1};
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      const auto rule = rules.find({ids[i], ids[i + 1]});
      if (rule != rules.end() && rule->second.rank < found.rank) best = i, found = rule->second;
    }
    if (best == ids.size()) return ids;
    ids[best] = found.both;
    ids.erase(ids.begin() + long(best) + 1);
  }
}

/// The number of base-4 digits of an id. Ids here encode texts of the digits 1 to 3, so that one id is one
/// text.
int digits(int32_t id) { return id == 0 ? 0 : 1 + digits(id >> 2); }

Merger merger_of(const Rules& rules) {
  Merger merger;
  for (const auto& [pair, rule] : rules) merger.add(pair.first, pair.second, rule.rank, rule.both);
  return merger;
}

Ids merged(Merger& merger, const Ids& ids) {
  Ids out;
  for (const int32_t id : ids) merger.push(id);
  merger.merge(out);
  return out;
}

}  // namespace

TEST(pairs_merge_in_the_order_of_rank_and_place) {
  for (int round = 0; round < 30; ++round) {
    Rules rules;  // several pairs may merge to one id, since a text can be divided in several ways
    Ids known = {1, 2, 3};
    for (int32_t rank = 0; rank < 30; ++rank) {
      const auto any = [&] { return known[size_t(random_int(0, int64_t(known.size()) - 1))]; };
      const int32_t first = any(), second = any();
      if (digits(first) + digits(second) > 8) continue;
      const int32_t both = (first << 2 * digits(second)) + second;
      rules.emplace(std::pair(first, second), Rule{rank, both});
      known.push_back(both);
    }
    Merger merger = merger_of(rules);
    for (int i = 0; i < 40; ++i) {
      Ids ids;
      for (int64_t n = random_int(0, 70); n > 0; --n) ids.push_back(int32_t(random_int(1, 3)));
      EXPECT_TRUE(merged(merger, ids) == merged_by_definition(rules, ids));
    }
  }
}

TEST(a_pair_keeps_what_it_was_given_first) {
  Merger merger;
  merger.add(0, 1, 5, 10);
  merger.add(0, 1, 0, 11);
  merger.add(1, 2, 3, 12);
  EXPECT_TRUE(merged(merger, {0, 1, 2}) == Ids({0, 12}));
  EXPECT_TRUE(merged(merger, {0, 1, 0}) == Ids({10, 0}));
}

TEST(a_row_begins_anew_after_clear_and_after_merge) {
  Merger merger;
  merger.add(0, 1, 0, 2);
  merger.push(0);
  merger.clear();
  EXPECT_TRUE(merged(merger, {1}) == Ids({1}));
  EXPECT_TRUE(merged(merger, {}) == Ids());
  Ids out = {0};
  merger.push(1);
  merger.merge(out);  // ids that were in `out` before are not merged
  EXPECT_TRUE(out == Ids({0, 1}));
}

TEST(a_million_symbols_take_seconds_at_most) {
  Merger merger;
  for (int32_t id = 0; id < 6; ++id) merger.add(id, id, id, id + 1);
  const double start = processor_seconds();
  EXPECT_TRUE(merged(merger, Ids(1 << 20)) == Ids(size_t(1 << 20) / 64, 6));
  EXPECT_TRUE(processor_seconds() - start < 30);
}

}  // namespace text_merger_test
