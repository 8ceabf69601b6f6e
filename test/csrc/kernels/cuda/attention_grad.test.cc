// Gradient of packed attention on the device, compared with the CPU op, given the same forward.
//
// Faults put into the code, each detected by gradients_agree...: mask one too short; window one too long in
// dq, dk or dv; the last rows of a window left out; delta left out; lse in the wrong base; dk not scaled, or
// computed from p; only one head of the group; a barrier missing in either pass, or before the keys are read
// from a stage; the keys, or a stage, not waited for; of wide heads the other half of dv. One is not detected: dk and dv may read rows beyond the
// end, since these are zeros.
#include "attention_gradients.h"

namespace kernels_cuda_attention_grad_test {

#ifdef HONE_HAVE_CUDA

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

const AttentionShape kShapes[] = {
    {{1}, 1, 1, 16},
    {{15, 16, 17}, 4, 2, 32},
    {{63, 0, 64, 65}, 1, 1, 64},
    {{0, 66, 0, 5}, 1, 1, 128},
    {{18}, 8, 1, 24},
    {{81}, 2, 1, 96, 33},
    {{140}, 1, 1, 64, 64},
    {{70}, 1, 1, 64, 1},
    {{140}, 1, 1, 16, 130},
    {{17, 0, 15}, 4, 2, 256},
    {{66}, 2, 1, 160, 20},
    {{81}, 1, 1, 192},
};

}  // namespace

TEST(gradients_agree_with_the_cpu_at_every_edge_of_their_tiles) {
  NEEDS_DEVICE;
  for (const AttentionShape& shape : kShapes) {
    const PackedBatch batch(shape);
    const PackedBatch::Forward forward = forward_of(batch);
    expect_gradients(batch, forward, batch.device_backward(forward));
  }
}

#ifdef HONE_CUDA_SHIM
TEST(gradients_of_wide_heads_fit_a_device_with_99_kb_a_block) {
  NEEDS_DEVICE;
  const PackedBatch batch({{20}, 2, 1, 256});
  const PackedBatch::Forward forward = forward_of(batch);
  cuda_shim::limit_shared_bytes(99 * 1024);
  expect_gradients(batch, forward, batch.device_backward(forward));
  cuda_shim::limit_shared_bytes(~size_t(0));
}
#endif

TEST(gradients_have_the_same_bits_twice_and_in_any_order_of_blocks) {
  NEEDS_DEVICE;
  // the shim runs blocks and threads in another random order at each launch
  for (const AttentionShape& shape : {AttentionShape{{66, 20}, 2, 1, 64}, {{35}, 2, 1, 256}}) {
    const PackedBatch batch(shape);
    const PackedBatch::Forward forward = forward_of(batch);
    EXPECT_TRUE(same(batch.device_backward(forward), batch.device_backward(forward)));
  }
}

TEST(a_sequence_has_the_same_gradients_in_any_packing) {
  NEEDS_DEVICE;
  const PackedBatch all({{65, 9, 30}, 2, 1, 64});
  const PackedBatch::Forward forward = forward_of(all);
  const PackedBatch::Gradients packed = all.device_backward(forward);
  for (const size_t s : {0u, 1u, 2u}) {
    PackedBatch alone({{all.shape.lengths[s]}, 2, 1, 64});
    const auto part = [&](const std::vector<float>& x, int64_t width) {
      return std::vector<float>(x.begin() + all.starts[s] * width, x.begin() + all.starts[s + 1] * width);
    };
    const int64_t Q = all.shape.q_width(), K = all.shape.kv_width();
    alone.q = part(all.q, Q), alone.k = part(all.k, K), alone.v = part(all.v, K), alone.dout = part(all.dout, Q);
    EXPECT_TRUE(same(alone.device_backward({part(forward.out, Q), part(forward.lse, all.shape.heads)}),
                     {part(packed.dq, Q), part(packed.dk, K), part(packed.dv, K)}));
  }
}

TEST(nothing_packed_has_no_gradients) {
  NEEDS_DEVICE;
  const PackedBatch none({{}, 2, 1, 32}), empty({{0, 0}, 2, 1, 32});
  EXPECT_EQ(none.device_backward({}).dq.size(), size_t(0));
  EXPECT_EQ(empty.device_backward({}).dk.size(), size_t(0));
}

TEST(a_gradient_without_scratch_is_refused) {
  NEEDS_DEVICE;
  const DeviceRows x(4, 1, 16, 0);
  const DeviceArray<int32_t> cu(std::vector<int32_t>{0, 4});
  const DeviceArray<float> lse(4);
  const TensorView v = x.view(), l = lse.view(DType::kF32, {4, 1});
  Arena host(1024, "test");
  for (Arena* scratch : {static_cast<Arena*>(nullptr), &host}) {
    EXPECT_THROWS(attention_packed_grad(device_stream(),
                                        {v, v, v, cu.view(DType::kI32, {2}), v, l, v, v, v, v, 1.0f, 0, scratch}),
                  Code::kInternal);
  }
}

#else
TEST(cuda_packed_gradients) { SKIP("built without CUDA"); }
#endif

}  // namespace kernels_cuda_attention_grad_test
