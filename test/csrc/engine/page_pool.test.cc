#include "engine/page_pool.h"

#include <cstring>
#include <set>

#include "check.h"

namespace engine_page_pool_test {

using hone::engine::PagePool;
using namespace hone;
using namespace hone::test;

namespace {

model::ModelConfig tiny() {
  model::ModelConfig c;
  c.vocabulary = 32, c.width = 16, c.layers = 3, c.heads = 4, c.kv_heads = 2, c.head_dim = 4, c.mlp_width = 32;
  return c;
}

/// Fills page p of every layer with values that identify page and layer.
void fill(const PagePool& pool, int32_t page, float mark) {
  for (int64_t l = 0; l < 3; ++l) {
    const kernels::KvPages layer = pool.layer(l);
    for (const TensorView* view : {&layer.keys, &layer.values}) {
      for (int64_t i = 0; i < view->dim(1); ++i) {
        const float x = mark + float(l) * 0.25f + (view == &layer.keys ? 0 : 0.5f) + float(i);
        if (view->dtype == DType::kF32) view->row<float>(page)[i] = x;
        else view->row<uint16_t>(page)[i] = f32_to_bf16(x);
      }
    }
  }
}

bool equal_pages(const PagePool& pool, int32_t a, int32_t b) {
  bool same = true;
  for (int64_t l = 0; l < 3; ++l) {
    const kernels::KvPages layer = pool.layer(l);
    for (const TensorView& view : {layer.keys, layer.values}) {
      const auto bytes = size_t(view.dim(1) * dtype_bytes(view.dtype));
      const auto* base = view.as<std::byte>();
      same = same && std::memcmp(base + size_t(a) * bytes, base + size_t(b) * bytes, bytes) == 0;
    }
  }
  return same;
}

}  // namespace

TEST(pages_are_distinct_and_come_back) {
  PagePool pool(tiny(), 8, 16);
  std::set<int32_t> taken;
  for (int i = 0; i < 8; ++i) taken.insert(pool.take());
  EXPECT_EQ(taken.size(), size_t(8));
  EXPECT_EQ(pool.free_pages(), 0);
  EXPECT_THROWS(pool.take(), Code::kInternal);
  for (const int32_t page : taken) pool.release(page);
  EXPECT_EQ(pool.free_pages(), 8);
  EXPECT_THROWS(pool.release(3), Code::kInternal);
}

TEST(a_shared_page_lives_until_its_last_reference) {
  PagePool pool(tiny(), 2, 16);
  const int32_t page = pool.take();
  pool.retain(page);
  pool.release(page);
  EXPECT_EQ(pool.references(page), 1);
  EXPECT_EQ(pool.free_pages(), 1);
  pool.release(page);
  EXPECT_EQ(pool.free_pages(), 2);
}

TEST(never_used_pages_are_handed_out_lowest_first) {
  PagePool pool(tiny(), 4, 16);
  EXPECT_EQ(pool.take(), 0);
  EXPECT_EQ(pool.take(), 1);
}

TEST(fresh_memory_and_scrubbed_memory_are_zero) {
  PagePool pool(tiny(), 4, 32);
  const auto all_zero = [&] {
    for (int64_t l = 0; l < 3; ++l) {
      const kernels::KvPages layer = pool.layer(l);
      for (int64_t i = 0; i < layer.keys.numel(); ++i) {
        if (layer.keys.as<float>()[i] != 0 || layer.values.as<float>()[i] != 0) return false;
      }
    }
    return true;
  };
  EXPECT_TRUE(all_zero());
  fill(pool, 2, std::nanf(""));
  pool.scrub();
  EXPECT_TRUE(all_zero());
}

TEST(copy_save_and_load_move_every_layer_bit_for_bit) {
  for (DType storage : {DType::kF32, DType::kBF16}) {
    PagePool pool(tiny(), 4, 16, storage);
    EXPECT_EQ(pool.page_bytes(), int64_t(3 * 2 * 2 * 16 * 4 * dtype_bytes(storage)));
    EXPECT_TRUE(pool.layer(2).keys.dtype == storage && pool.layer(2).values.dtype == storage);
    fill(pool, 0, 100), fill(pool, 1, 200), fill(pool, 2, 300), fill(pool, 3, 400);
    pool.copy(1, 3);
    EXPECT_TRUE(equal_pages(pool, 1, 3));
    EXPECT_TRUE(!equal_pages(pool, 0, 1));
    std::vector<std::byte> saved(size_t(pool.page_bytes()), std::byte{0xff});
    pool.save(2, saved.data());
    fill(pool, 2, -1);
    pool.load(0, saved.data());
    fill(pool, 2, 300);
    EXPECT_TRUE(equal_pages(pool, 0, 2));
    EXPECT_TRUE(equal_pages(pool, 1, 3));  // neighbouring pages are unchanged
  }
}

TEST(a_cache_that_no_number_of_bytes_can_hold_is_refused) {
  model::ModelConfig config = tiny();
  config.layers = 1, config.kv_heads = 641, config.head_dim = 6700417;  // 641 * 6700417 = 2^32 + 1
  EXPECT_THROWS(PagePool(config, 1 << 25, 16), Code::kOutOfMemory);     // 2^64 + 2^32 bytes, which is 4 GB in 64 bits
}

TEST(pages_for_rounds_up) {
  PagePool pool(tiny(), 4, 16);
  EXPECT_EQ(pool.pages_for(1), 1);
  EXPECT_EQ(pool.pages_for(16), 1);
  EXPECT_EQ(pool.pages_for(17), 2);
}

}  // namespace engine_page_pool_test
