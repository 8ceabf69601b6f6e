// Tried mutants, all killed: a run that shortens its prefix, one that lengthens it, neighbours of one
// sequence joined, pages counted for tokens, a run's first row without the number. (Comparing with the row
// before instead of the run's first gives the same function.)
#include "engine/shared_prefix.h"

#include "check.h"

namespace engine_shared_prefix_test {

using namespace hone;

namespace {

struct Found {
  std::vector<int32_t> row, tokens;
  bool operator==(const Found& other) const { return row == other.row && tokens == other.tokens; }
};

/// Block tables of six sequences with pages of 16 tokens; -1 where a sequence has no page yet.
constexpr int32_t kTables[6][5] = {
    {4, 9, 2, 7, -1},   // 0, 1, 2: a group with three pages of a prompt
    {4, 9, 2, 11, -1},  //
    {4, 9, 2, 5, 3},    //
    {8, 9, 2, 7, -1},   // 3: other pages at the head, the same ones later
    {4, 9, 1, -1, -1},  // 4: two pages in common with the group
    {8, 6, -1, -1, -1}, // 5: one page in common with 3
};

Found find(const std::vector<int32_t>& table_rows) {
  Found out{std::vector<int32_t>(table_rows.size(), -7), std::vector<int32_t>(table_rows.size(), -7)};
  engine::find_shared_prefixes(table_rows, i32(&kTables[0][0], {6, 5}), 16, out.row.data(), out.tokens.data());
  return out;
}

}  // namespace

TEST(neighbours_with_the_same_leading_pages_are_a_run) {
  struct Case {
    std::vector<int32_t> table_rows;
    Found want;
  };
  const Case cases[] = {
      {{}, {{}, {}}},
      {{2}, {{0}, {0}}},
      {{0, 1, 2}, {{0, 0, 0}, {48, 48, 48}}},
      {{3, 0, 1}, {{0, 1, 1}, {0, 48, 48}}},
      {{0, 3, 1}, {{0, 1, 2}, {0, 0, 0}}},              // not neighbours
      {{0, 1, 4}, {{0, 0, 2}, {48, 48, 0}}},            // a run keeps its prefix
      {{4, 0, 1}, {{0, 0, 0}, {32, 32, 32}}},           // a run has the prefix of its first two
      {{0, 4, 1}, {{0, 0, 0}, {32, 32, 32}}},           // and keeps it, though the third has more in common
      {{3, 5, 0, 2}, {{0, 0, 2, 2}, {16, 16, 48, 48}}}, // two runs side by side
      {{1, 0, 0, 0, 2}, {{0, 0, 2, 3, 3}, {48, 48, 0, 48, 48}}},  // three rows of one prompt
  };
  for (const Case& c : cases) EXPECT_TRUE(find(c.table_rows) == c.want);
}

}  // namespace engine_shared_prefix_test
