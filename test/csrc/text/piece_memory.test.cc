// Pieces are recalled as they were remembered, and no more than the limit are kept. Faults put into the code:
// ids not cleared with their ranges; ranges not cleared with their ids; a range that starts at 0.
#include "text/piece_memory.h"

#include <string>

#include "check.h"

namespace text_piece_memory_test {

using namespace hone::test;
using hone::text::PieceMemory;

namespace {

void remember(PieceMemory& memory, const std::string& piece, const std::vector<int32_t>& ids) {
  memory.remember(piece, ids.data(), ids.size());
}

/// The recalled ids as "7 8 ", or "nothing" if the piece is not cached.
std::string recalled(const PieceMemory& memory, const std::string& piece) {
  std::vector<int32_t> out;
  if (!memory.recall(piece, out)) return out.empty() ? "nothing" : "nothing, but something was appended";
  std::string text;
  for (const int32_t id : out) text += std::to_string(id) + " ";
  return text;
}

}  // namespace

TEST(pieces_are_recalled_as_they_were_remembered) {
  PieceMemory memory;
  EXPECT_EQ(recalled(memory, "ab"), "nothing");
  remember(memory, "ab", {7, 8});
  remember(memory, "", {});
  remember(memory, "c", {9});
  EXPECT_EQ(recalled(memory, "ab"), "7 8 ");
  EXPECT_EQ(recalled(memory, ""), "");
  EXPECT_EQ(recalled(memory, "c"), "9 ");
  EXPECT_EQ(recalled(memory, "a"), "nothing");
  std::vector<int32_t> out = {1};
  EXPECT_TRUE(memory.recall("ab", out));
  EXPECT_TRUE(out == std::vector<int32_t>({1, 7, 8}));
}

TEST(long_pieces_are_not_remembered) {
  PieceMemory memory;
  remember(memory, std::string(48, 'a'), {1});
  remember(memory, std::string(49, 'a'), {2});
  EXPECT_EQ(recalled(memory, std::string(48, 'a')), "1 ");
  EXPECT_EQ(recalled(memory, std::string(49, 'a')), "nothing");
}

TEST(a_full_memory_forgets_everything_and_stays_right) {
  PieceMemory memory;
  const std::vector<int32_t> half(size_t(1) << 19, 5);
  remember(memory, "first", half);
  remember(memory, "second", half);
  std::vector<int32_t> out;
  EXPECT_TRUE(memory.recall("first", out) && memory.recall("second", out));  // both fit into 2^20 ids
  EXPECT_EQ(out.size(), size_t(1) << 20);
  remember(memory, "third", {6, 7});
  EXPECT_EQ(recalled(memory, "first"), "nothing");
  EXPECT_EQ(recalled(memory, "second"), "nothing");
  EXPECT_EQ(recalled(memory, "third"), "6 7 ");
  remember(memory, "first", {8});
  EXPECT_EQ(recalled(memory, "first"), "8 ");
  EXPECT_EQ(recalled(memory, "third"), "6 7 ");
}

}  // namespace text_piece_memory_test
