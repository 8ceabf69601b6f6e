// Pages keep their bytes when they are swapped out and restored. Faults put into the code, each detected:
// pages saved from the first one on; a page restored one off; swapped-out pages not freed; the saved bytes
// kept after restoring.
#include "engine/page_swap.h"

#include "check.h"

namespace engine_page_swap_test {

using namespace hone;
using namespace hone::engine;

namespace {

constexpr int32_t kLayers = 2, kKvHeads = 1, kWidth = 16, kHeadDim = 4;

model::ModelConfig tiny() {
  model::ModelConfig c;
  c.vocabulary = 32, c.width = 16, c.layers = kLayers, c.heads = 2, c.kv_heads = kKvHeads, c.head_dim = kHeadDim;
  c.mlp_width = 32;
  return c;
}

/// Fills a page with numbers that encode its owner and their index.
void fill(PagePool& pool, int32_t page, int32_t owner) {
  for (int32_t layer = 0; layer < kLayers; ++layer) {
    for (int32_t i = 0; i < kKvHeads * kWidth * kHeadDim; ++i) {
      pool.layer(layer).keys.row<float>(page)[i] = float(owner * 1000 + layer * 100 + i);
      pool.layer(layer).values.row<float>(page)[i] = -float(owner * 1000 + layer * 100 + i);
    }
  }
}

bool filled(PagePool& pool, int32_t page, int32_t owner) {
  for (int32_t layer = 0; layer < kLayers; ++layer) {
    for (int32_t i = 0; i < kKvHeads * kWidth * kHeadDim; ++i) {
      const float wanted = float(owner * 1000 + layer * 100 + i);
      if (pool.layer(layer).keys.row<float>(page)[i] != wanted) return false;
      if (pool.layer(layer).values.row<float>(page)[i] != -wanted) return false;
    }
  }
  return true;
}

}  // namespace

TEST(pages_come_back_bit_for_bit_behind_those_that_are_there) {
  PagePool pool(tiny(), 8, kWidth);
  PageSwap swap(pool);
  std::vector<int32_t> pages = {pool.take(), pool.take(), pool.take()};
  for (int32_t i = 0; i < 3; ++i) fill(pool, pages[size_t(i)], i + 1);
  const int32_t shared = pages[0];
  pool.retain(shared);  // another sequence uses this page, so it is neither saved nor freed
  std::vector<std::byte> saved;
  EXPECT_EQ(swap.out(pages, 1, saved), 2);
  EXPECT_TRUE(pages.empty());
  EXPECT_EQ(pool.free_pages(), 7);
  EXPECT_EQ(pool.references(shared), 1);
  EXPECT_EQ(saved.size(), size_t(2 * pool.page_bytes()));
  for (int32_t page = 0; page < 8; ++page) {
    if (page != shared) fill(pool, page, 9);
  }
  pages = {shared};
  swap.in(saved, 2, pages);
  EXPECT_EQ(pages.size(), size_t(3));
  EXPECT_EQ(pool.free_pages(), 5);
  for (int32_t i = 0; i < 3; ++i) EXPECT_TRUE(filled(pool, pages[size_t(i)], i + 1));
  EXPECT_TRUE(saved.empty());
  EXPECT_TRUE(swap.seconds() > 0);
}

TEST(the_last_pages_may_be_left_out) {
  PagePool pool(tiny(), 4, kWidth);
  PageSwap swap(pool);
  std::vector<int32_t> pages = {pool.take(), pool.take()};
  fill(pool, pages[0], 1), fill(pool, pages[1], 2);
  std::vector<std::byte> saved;
  EXPECT_EQ(swap.out(pages, 0, saved), 2);
  EXPECT_EQ(pool.free_pages(), 4);
  swap.in(saved, 1, pages);
  EXPECT_EQ(pages.size(), size_t(1));
  EXPECT_EQ(pool.free_pages(), 3);
  EXPECT_TRUE(filled(pool, pages[0], 1));
  EXPECT_TRUE(saved.empty());
}

}  // namespace engine_page_swap_test
