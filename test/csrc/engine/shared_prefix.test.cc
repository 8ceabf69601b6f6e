// find_shared_prefixes on tables written by hand. Faults put into the code, each detected: a run that
// shortens or lengthens its prefix; neighbouring rows of one sequence joined; pages counted instead of
// tokens; a run's first row without the number. (Comparing with the previous row instead of the run's first
// one gives the same function.)
#include "engine/shared_prefix.h"

#include "check.h"

namespace engine_shared_prefix_test {

using namespace hone;

namespace {

struct Found {
  std::vector<int32_t> row, tokens;
  bool operator==(const Found& other) const { return row == other.row && tokens == other.tokens; }
};

/// Block tables of six sequences with pages of 16 tokens; -1: the sequence has no page there.
constexpr int32_t kTables[6][5] = {
    {4, 9, 2, 7, -1},   // sequences 0, 1, 2: a group that shares the three pages of its prompt
    {4, 9, 2, 11, -1},  //
    {4, 9, 2, 5, 3},    //
    {8, 9, 2, 7, -1},   // sequence 3: another first page, then pages that others have too
    {4, 9, 1, -1, -1},  // sequence 4: shares two pages with the group
    {8, 6, -1, -1, -1}, // sequence 5: shares one page with sequence 3
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
      {{4, 0, 1}, {{0, 0, 0}, {32, 32, 32}}},           // the prefix of a run is that of its first two rows
      // it stays so, although the third row shares more pages with the first
      {{0, 4, 1}, {{0, 0, 0}, {32, 32, 32}}},
      {{3, 5, 0, 2}, {{0, 0, 2, 2}, {16, 16, 48, 48}}}, // two runs side by side
      {{1, 0, 0, 0, 2}, {{0, 0, 2, 3, 3}, {48, 48, 0, 48, 48}}},  // three rows of one prompt
  };
  for (const Case& c : cases) EXPECT_TRUE(find(c.table_rows) == c.want);
}

}  // namespace engine_shared_prefix_test
