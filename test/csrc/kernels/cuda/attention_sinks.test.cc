// Attention with sinks on the device: compared with the CPU op, packed with paged rows to the bit, and its gradients.
//
// A fault put into the code, detected: half of a sink's weight in a row's sum.
#include "attention_cache.h"
#include "attention_gradients.h"
#include "each_way.h"

namespace kernels_cuda_attention_sinks_test {

#ifdef HONE_HAVE_CUDA

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

TEST_SETUP { say_hopper(); }

namespace {

/// Heads of every kernel: 64 and 128 with wgmma too, 256 in two parts; a window; two splits.
const AttentionShape kShapes[] = {
    {{1, 15, 0, 17}, 4, 2, 16}, {{65, 3}, 8, 1, 64}, {{70}, 4, 2, 128, 33}, {{33, 9}, 4, 1, 256, 20}, {{530}, 4, 4, 8},
};

PackedBatch with_sinks(const AttentionShape& shape) {
  PackedBatch batch(shape);
  batch.add_sinks();
  return batch;
}

}  // namespace

TEST(sinks_take_their_share_of_a_row_as_on_the_cpu) {
  NEEDS_DEVICE;
  each_way([] {
    for (const AttentionShape& shape : kShapes) {
      const PackedBatch batch = with_sinks(shape);
      expect_forward(batch, batch.device_forward());
    }
  });
}

TEST(paged_rows_with_sinks_have_the_packed_rows_bits_in_pieces_and_one_by_one) {
  NEEDS_DEVICE;
  for (const AttentionShape& shape : kShapes) {
    const PackedBatch batch = with_sinks(shape);
    const std::vector<float> packed = batch.device_forward(true, true).out;
    PagedRun run(batch, 16);
    std::vector<Row> all, last;
    for (int s = 0; s < int(shape.lengths.size()); ++s) {
      const int length = shape.lengths[size_t(s)];
      for (int i = 0; i < length; ++i) all.push_back({s, i});
      if (length > 0) last.push_back({s, length - 1});
    }
    run.write(all);
    run.attend(all);
    run.expect_rows_equal(packed);
    run.forget();
    run.attend(last);  // where a row has several splits, another block merges them
    for (const Row& row : last) EXPECT_TRUE(run.row_equals(row, packed));
  }
}

TEST(gradients_of_rows_with_sinks_agree_with_the_cpu) {
  NEEDS_DEVICE;
  each_way([] {
    for (const AttentionShape& shape : {AttentionShape{{17, 20}, 4, 2, 64}, {{35}, 4, 1, 256, 9}}) {
      const PackedBatch batch = with_sinks(shape);
      const PackedBatch::Forward forward = forward_of(batch);
      expect_gradients(batch, forward, batch.device_backward(forward));
    }
  });
}

TEST(the_gradient_of_sinks_is_the_cpus_and_is_added) {
  NEEDS_DEVICE;
  for (const AttentionShape& shape : {AttentionShape{{1}, 3, 1, 8}, {{70, 3}, 5, 5, 24}, {{130, 40}, 4, 2, 64}, {{9}, 64, 1, 256}}) {
    const PackedBatch batch = with_sinks(shape);
    const PackedBatch::Forward forward = forward_of(batch);
    const int64_t T = shape.tokens(), H = shape.heads, D = shape.head_dim;
    const std::vector<float> before = random_floats(H);
    std::vector<float> wanted = before;
    attention_sinks_grad({}, {f32(batch.sinks.data(), {H}), batch.queries(forward.out), batch.queries(batch.dout), f32(forward.lse.data(), {T, H}), f32(wanted.data(), {H})});
    const DeviceArray<float> sinks(batch.sinks), lse(forward.lse), dsinks(before);
    const DeviceRows out(forward.out, H, D, 0), dout(batch.dout, H, D, 8);
    attention_sinks_grad(device_stream(), {sinks.view(DType::kF32, {H}), out.view(), dout.view(), lse.view(DType::kF32, {T, H}), dsinks.view(DType::kF32, {H})});
    const std::vector<float> got = dsinks.download();
    for (size_t h = 0; h < got.size(); ++h) EXPECT_NEAR(got[h], wanted[h], 2e-6 * double(T + D));
    attention_sinks_grad(device_stream(), {sinks.view(DType::kF32, {H}), TensorView(out.memory.data(), DType::kBF16, {0, H, D}), TensorView(dout.memory.data(), DType::kBF16, {0, H, D}),
                                           TensorView(lse.data(), DType::kF32, {0, H}), dsinks.view(DType::kF32, {H})});
    EXPECT_TRUE(dsinks.download() == got);  // no rows add nothing
  }
}

#else
TEST(cuda_attention_with_sinks) { SKIP("built without CUDA"); }
#endif

}  // namespace kernels_cuda_attention_sinks_test
