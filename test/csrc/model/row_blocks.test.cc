// Row blocks: every row is in exactly one block, and every loss row in the block of its row. Mutation tests:
// test/mutants/csrc-model.json.
#include "model/row_blocks.h"

#include "check.h"

namespace model_row_blocks_test {
namespace {

using namespace hone;
using model::RowBlock;

TEST(every_row_is_in_one_block_and_blocks_differ_by_a_row_at_most) {
  for (const int64_t T : {0, 1, 2, 7, 64, 1001}) {
    for (const int64_t parts : {1, 2, 3, 8}) {
      int64_t next = 0;
      for (int64_t p = 0; p < parts; ++p) {
        const model::RowRange of = model::part_of(T, p, parts);
        EXPECT_EQ(of.first, next);
        EXPECT_TRUE(of.count == T / parts || of.count == T / parts + (T % parts > 0));
        next += of.count;
      }
      EXPECT_EQ(next, T);
    }
  }
}

TEST(a_loss_row_is_in_the_block_of_its_row) {
  // loss rows of ten rows; block 2 of 4 has rows 5 and 6, hence no loss row
  const std::vector<int32_t> loss_rows = {0, 2, 3, 4, 9};
  const std::vector<RowBlock> blocks = model::row_blocks(10, loss_rows.data(), 5, 4);
  EXPECT_EQ(blocks.size(), size_t(4));
  for (size_t r = 0; r < loss_rows.size(); ++r) {
    for (const RowBlock& block : blocks) {
      const auto in = [](const model::RowRange& range, int64_t i) { return i >= range.first && i < range.first + range.count; };
      EXPECT_EQ(in(block.tokens, loss_rows[r]), in(block.outputs, int64_t(r)));
    }
  }
  EXPECT_EQ(blocks[2].outputs.count, 0);
  EXPECT_EQ(model::row_blocks(10, nullptr, 0, 2)[1].outputs.count, 0);
}

TEST(rows_of_a_view_keep_its_stride) {
  std::vector<float> x(20);
  TensorView view = f32(x.data(), {4, 3});
  view.row_stride = 5;
  const TensorView rows = model::rows_of(view, {1, 2});
  EXPECT_TRUE(rows.dim(0) == 2 && rows.dim(1) == 3 && rows.row_stride == 5);
  EXPECT_TRUE(rows.as<float>() == x.data() + 5);
}

}  // namespace

}  // namespace model_row_blocks_test
