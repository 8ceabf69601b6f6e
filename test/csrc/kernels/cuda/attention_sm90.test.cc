// Packed forward attention by wgmma. The host shim sums each step of 16 products in the same way for wgmma
// and mma.sync, so that there the bits are the portable kernel's; on any device results agree with the CPU op
// within its bound.
//
// Faults put into the code, each detected in the host shim: a wait for keys or values left out; parities of
// full or empty tiles never flipped or inverted, or empty tiles not waited for; a fence left out; scores or
// sums not waited for; keys or values released too early, never, or by every lane; no splits, or splits one
// tile late; softmax state or sums not cleared, saved, merged or rescaled at a split; another sequence's
// values not cleared, too few or too many rows or only one box cleared, cleared too early, or not made
// visible to wgmma; no mask, or one tile off; the diagonal left out; tiles before a window not released, or
// its start ignored; the first group's rows computed twice; the query head used as key head; a sequence's
// start ignored; too few bytes announced; barriers not made visible or not waited for; values exchanged with
// keys; one reader group too many or too few; tiles not aligned to 1024 bytes; too many registers; turns
// waited for once too often, by a group without a partner, or by the first group first; turns passed to
// oneself, never, or not after the first scores. One is not detected, because it is correct: keys released
// before the wait for their scores are not overwritten, since the copying thread first waits for the previous
// tile's values.
#include "kernels/cuda/attention.h"

#include "attention_batch.h"
#include "each_way.h"

namespace kernels_cuda_attention_sm90_test {

#ifdef HONE_HAVE_CUDA

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

TEST_SETUP { say_hopper(); }

namespace {

using Forward = PackedBatch::Forward;

bool equal(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && same_bits(a.data(), b.data(), int64_t(a.size()));
}

void check(const AttentionShape& shape) {
  const PackedBatch batch(shape);
  const Forward fast = batch.device_forward();
  expect_forward(batch, fast);
  if (!on_shim()) return;
  const Forward portable = batch.device_forward(true, true);
  EXPECT_TRUE(equal(fast.out, portable.out));
  EXPECT_TRUE(equal(fast.lse, portable.lse));
}

/// Lengths at the edges of tiles of 64, of blocks of 128 and of splits of 512; 1, 4 and 8 query heads per key
/// head.
const AttentionShape kShapes[] = {
    {{1}, 1, 1, 64},
    {{63, 0, 64, 65}, 4, 1, 64},
    {{127, 128, 129}, 2, 2, 64},
    {{3, 0, 130}, 8, 1, 128},
    {{511, 2}, 1, 1, 64},
    {{577}, 1, 1, 64},
    {{513}, 1, 1, 128},
};

/// Windows for which a group of rows starts a tile after the other group, at a split's start or in its
/// middle, or is the only one that uses the ring.
const AttentionShape kWindows[] = {
    {{200}, 1, 1, 64, 65},
    {{70, 193}, 2, 1, 128, 1},
    {{640}, 1, 1, 64, 65},
    {{580}, 1, 1, 64, 200},
    {{575}, 1, 1, 64, 530},
};

}  // namespace

TEST(heads_of_64_and_128_take_wgmma_unless_told_otherwise) {
  NEEDS_HOPPER;
  const auto uses = [](int64_t dim, bool deterministic) { return kernels::cuda::attention_uses_wgmma(dim, deterministic); };
  for (const int64_t dim : {8, 56, 72, 96, 120}) EXPECT_TRUE(!uses(dim, false));
  for (const int64_t dim : {64, 128}) {
    EXPECT_TRUE(uses(dim, false));
    EXPECT_TRUE(!uses(dim, true));
    kernels::cuda::force_portable(true);
    EXPECT_TRUE(!uses(dim, false));
    kernels::cuda::force_portable(false);
  }
}

TEST(wgmma_has_the_bits_of_mma_and_agrees_with_the_cpu) {
  NEEDS_HOPPER;
  for (const AttentionShape& shape : kShapes) check(shape);
}

TEST(so_it_does_under_a_window) {
  NEEDS_HOPPER;
  for (const AttentionShape& shape : kWindows) check(shape);
}

TEST(so_it_does_for_shapes_that_nobody_chose) {
  NEEDS_HOPPER;
  for (const int64_t dim : {64, 128}) {
    AttentionShape shape{{}, 2, 1, dim, int(random_int(0, 1) * random_int(1, 150))};
    for (int s = 0; s < 3; ++s) shape.lengths.push_back(int(random_int(0, 150)));
    check(shape);
  }
}

TEST(queries_keys_and_values_may_be_columns_of_one_matrix) {
  NEEDS_HOPPER;
  const PackedBatch batch({{90, 40}, 4, 2, 64});
  const auto [lengths, H, K, D, window] = batch.shape;
  const int64_t T = batch.shape.tokens();
  std::vector<float> all;
  for (int64_t t = 0; t < T; ++t) {
    for (const auto* part : {&batch.q, &batch.k, &batch.v}) {
      const int64_t width = int64_t(part->size()) / T;
      all.insert(all.end(), part->begin() + t * width, part->begin() + (t + 1) * width);
    }
  }
  const DeviceRows qkv(all, H + 2 * K, D, 8), out(T, H, D, 0);
  const auto heads = [&](int64_t first, int64_t count) {
    TensorView view(qkv.memory.data() + first * D, DType::kBF16, {T, count, D});
    view.row_stride = qkv.stride;
    return view;
  };
  const DeviceArray<int32_t> cu(batch.starts);
  attention_packed(device_stream(), {heads(0, H), heads(H, K), heads(H + K, K), cu.view(DType::kI32, {cu.size()}),
                                     out.view(), {}, batch.shape.scale(), window});
  EXPECT_TRUE(equal(out.values(), batch.device_forward().out));
}

TEST(a_neighbour_that_is_not_a_number_changes_no_bit) {
  NEEDS_HOPPER;
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const int64_t dim : {64, 128}) {
    PackedBatch batch({{70, 61, 66, 1}, 2, 1, dim});
    const Forward clean = batch.device_forward();
    const auto spoil = [&](std::vector<float>& x, int64_t width) {
      for (int64_t i = batch.starts[1] * width; i < batch.starts[2] * width; ++i) x[size_t(i)] = i % 3 ? nan : inf;
    };
    spoil(batch.q, batch.shape.q_width());
    spoil(batch.k, batch.shape.kv_width());
    spoil(batch.v, batch.shape.kv_width());
    const Forward spoiled = batch.device_forward();
    for (const size_t s : {0u, 2u, 3u}) {
      const auto part = [&](const std::vector<float>& x, int64_t width) {
        return std::vector<float>(x.begin() + batch.starts[s] * width, x.begin() + batch.starts[s + 1] * width);
      };
      EXPECT_TRUE(equal(part(spoiled.out, batch.shape.q_width()), part(clean.out, batch.shape.q_width())));
      EXPECT_TRUE(equal(part(spoiled.lse, 2), part(clean.lse, 2)));
    }
  }
}

TEST(lse_is_optional_and_no_tokens_are_no_work) {
  NEEDS_HOPPER;
  const PackedBatch batch({{20}, 2, 1, 64});
  const Forward without = batch.device_forward(false);
  EXPECT_TRUE(equal(without.out, batch.device_forward().out));
  for (const float x : without.lse) EXPECT_TRUE(std::isnan(x));
  EXPECT_EQ(PackedBatch({{}, 2, 1, 64}).device_forward().out.size(), size_t(0));
  EXPECT_EQ(PackedBatch({{0, 0}, 2, 1, 128}).device_forward().out.size(), size_t(0));
}

TEST(large_scores_do_not_overflow_and_equal_ones_average) {
  NEEDS_HOPPER;
  PackedBatch batch({{140}, 1, 1, 64});
  for (float& x : batch.q) x = 256.0f;
  for (float& x : batch.k) x = 256.0f;  // gives every score the value 2^19
  expect_forward(batch, batch.device_forward());
}

#else
TEST(cuda_packed_forward_sm90) { SKIP("built without CUDA"); }
#endif

}  // namespace kernels_cuda_attention_sm90_test
