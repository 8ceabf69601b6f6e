// Packed forward attention on the device, compared with the CPU op on the same bf16 values.
//
// Faults put into the code, each detected by packed_forward_agrees...: key mask one too short or too long;
// window mask one too short; tiles on the diagonal or the window's edge not masked; cp.async not waited for;
// a tile's barrier missing; a tile loaded over the one in use; columns beyond the head dim read; swizzle left
// out when reading; sums over two lanes instead of four; a row without keys not handled; a split merged
// without rescaling o or l, or not cleared after merging; the key head chosen by remainder; the search for a
// tile's sequence off by one; lse not scaled, or in base 2; of wide heads the values of the other half.
#include "attention_batch.h"
#include "kernels/cuda/matmul.h"

namespace kernels_cuda_attention_test {

#ifdef HONE_HAVE_CUDA

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

const AttentionShape kShapes[] = {
    {{1}, 1, 1, 16},
    {{1, 15, 16, 17}, 4, 2, 32},
    {{63, 0, 64, 65}, 2, 1, 64},
    {{0, 129, 0, 0, 5}, 1, 1, 128},
    {{20}, 8, 1, 24},
    {{513}, 1, 1, 64},
    {{81}, 3, 3, 96, 33},
    {{200, 3}, 1, 1, 64, 64},
    {{570}, 1, 1, 16, 515},
    {{40, 70}, 1, 1, 128, 1},
    {{3}, 64, 1, 8},
    {{33, 0, 1, 31}, 4, 2, 256},
    {{70}, 1, 1, 160, 33},
    {{20}, 8, 1, 192},
    {{530}, 1, 1, 136, 520},
};

}  // namespace

TEST(packed_forward_agrees_with_the_cpu_at_every_edge_of_its_tiles) {
  NEEDS_DEVICE;
  for (const AttentionShape& shape : kShapes) {
    const PackedBatch batch(shape);
    expect_forward(batch, batch.device_forward());
  }
}

TEST(a_row_has_the_same_bits_in_any_packing) {
  NEEDS_DEVICE;
  const PackedBatch all({{70, 1, 66}, 2, 1, 64, 60});
  const std::vector<float> packed = all.device_forward().out;
  for (const size_t s : {0u, 1u, 2u}) {
    PackedBatch alone({{all.shape.lengths[s]}, 2, 1, 64, 60});
    const auto part = [&](const std::vector<float>& x, int64_t width) {
      return std::vector<float>(x.begin() + all.starts[s] * width, x.begin() + all.starts[s + 1] * width);
    };
    alone.q = part(all.q, all.shape.q_width());
    alone.k = part(all.k, all.shape.kv_width());
    alone.v = part(all.v, all.shape.kv_width());
    const std::vector<float> got = alone.device_forward().out, want = part(packed, all.shape.q_width());
    EXPECT_TRUE(same_bits(got.data(), want.data(), int64_t(want.size())));
  }
}

#ifdef HONE_CUDA_SHIM
TEST(a_device_with_99_kb_a_block_has_the_same_bits) {
  NEEDS_DEVICE;
  kernels::cuda::force_portable(true);  // Hopper's kernels have stricter requirements
  for (const AttentionShape& shape : {AttentionShape{{70, 1, 66}, 2, 1, 128, 60}, {{513}, 1, 1, 128}, {{66}, 2, 1, 64}, {{66, 3}, 2, 1, 256}}) {
    const PackedBatch batch(shape);
    const PackedBatch::Forward large = batch.device_forward();
    cuda_shim::limit_shared_bytes(99 * 1024);
    const PackedBatch::Forward small = batch.device_forward();
    cuda_shim::limit_shared_bytes(~size_t(0));
    EXPECT_TRUE(same_bits(large.out.data(), small.out.data(), int64_t(large.out.size())));
    EXPECT_TRUE(same_bits(large.lse.data(), small.lse.data(), int64_t(large.lse.size())));
  }
  kernels::cuda::force_portable(false);
}
#endif

TEST(lse_is_optional) {
  NEEDS_DEVICE;
  const PackedBatch batch({{20}, 2, 1, 32});
  const PackedBatch::Forward without = batch.device_forward(false), with = batch.device_forward();
  EXPECT_TRUE(same_bits(without.out.data(), with.out.data(), int64_t(with.out.size())));
  for (const float x : without.lse) EXPECT_TRUE(std::isnan(x));
}

TEST(no_sequences_and_empty_sequences_launch_nothing_that_writes) {
  NEEDS_DEVICE;
  const PackedBatch none({{}, 2, 1, 32}), empty({{0, 0, 0}, 2, 1, 32});
  EXPECT_EQ(none.device_forward().out.size(), size_t(0));
  EXPECT_EQ(empty.device_forward().out.size(), size_t(0));
}

TEST(large_scores_do_not_overflow_and_equal_ones_average) {
  NEEDS_DEVICE;
  PackedBatch batch({{80}, 1, 1, 64});
  for (float& x : batch.q) x = 256.0f;
  for (float& x : batch.k) x = 256.0f;  // gives every score the value 2^19
  expect_forward(batch, batch.device_forward());
}

TEST(what_the_device_kernels_cannot_take_is_refused_by_name) {
  NEEDS_DEVICE;
  const auto run = [](int64_t heads, int64_t kv_heads, int64_t head_dim, int64_t gap, DType dtype) {
    const DeviceRows q(4, heads, head_dim, gap), k(4, kv_heads, head_dim, gap);
    const DeviceArray<int32_t> cu(std::vector<int32_t>{0, 4});
    TensorView query = q.view();
    query.dtype = dtype;
    attention_packed(device_stream(), {query, k.view(), k.view(), cu.view(DType::kI32, {2}), q.view(), {}, 1.0f, 0});
  };
  EXPECT_THROWS(run(1, 1, 264, 0, DType::kBF16), Code::kUnsupported);
  EXPECT_THROWS(run(1, 1, 20, 4, DType::kBF16), Code::kUnsupported);
  EXPECT_THROWS(run(65, 1, 8, 0, DType::kBF16), Code::kUnsupported);
  EXPECT_THROWS(run(3, 2, 8, 0, DType::kBF16), Code::kShape);
  EXPECT_THROWS(run(2, 1, 16, 4, DType::kBF16), Code::kShape);
  EXPECT_THROWS(run(2, 1, 16, 0, DType::kF32), Code::kShape);
}

#else
TEST(cuda_packed_forward) { SKIP("built without CUDA"); }
#endif

}  // namespace kernels_cuda_attention_test
