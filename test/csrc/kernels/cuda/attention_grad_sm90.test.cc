// Gradient of packed attention by wgmma. The host shim sums each step of 16 products in the same way for
// wgmma and mma.sync, and both kernels take the same steps in the same order, so that there the bits are the
// portable kernel's. On any device results agree with the CPU op within its bound.
//
// Faults put into the code, each detected in the host shim: causal or window edges off by one; which columns
// a group of lines interacts with taken from the wrong line, or a column short; masking left out, or applied
// where nothing is masked; a tile that no line needs not released; a barrier's parity inverted or never
// flipped; one arrival too few; a stage released early, or by every lane; a wait, fence or commit left out;
// sums not started from zero; barriers not made visible; rows beyond a sequence's end not cleared, too few or
// too many of them, in one of two tiles, too early, or without a proxy fence; a row's lse and delta left out,
// taken from the first head only, or in the wrong base; a group's own tiles not waited for; queries, keys,
// values or output gradients exchanged; dk computed from p; heads of a group left out or in descending order;
// the wrong key head; too few tile slots; stages not aligned to 1024 bytes; too many registers. Two are not
// detected, because they change no result: iterating over tiles below the window, which are skipped, and
// masking slopes like scores.
#include "kernels/cuda/attention.h"

#include <limits>

#include "attention_gradients.h"
#include "kernels/cuda/matmul.h"

namespace kernels_cuda_attention_grad_sm90_test {

#ifdef HONE_HAVE_CUDA

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

#define NEEDS_HOPPER_ATTENTION \
  NEEDS_DEVICE;                \
  if (!kernels::cuda::attention_uses_wgmma(64, false)) SKIP("no Hopper")

namespace {

#ifdef HONE_CUDA_SHIM
TEST_SETUP { cuda_shim::set_capability(9); }
#endif

using Forward = PackedBatch::Forward;
using Gradients = PackedBatch::Gradients;

void check(const AttentionShape& shape) {
  const PackedBatch batch(shape);
  const Forward forward = forward_of(batch);
  const Gradients fast = batch.device_backward(forward);
  expect_gradients(batch, forward, fast);
  if (on_shim()) EXPECT_TRUE(same(fast, batch.device_backward(forward, true)));
}

/// Lengths at the edges of tiles of 64 and blocks of 128, and lengths that use every stage of the rings
/// twice; 1 and 4 query heads per key head.
const AttentionShape kShapes[] = {
    {{1}, 1, 1, 64},
    {{63, 0, 64, 65}, 4, 1, 64},
    {{127, 128, 129}, 2, 2, 64},
    {{3, 0, 66}, 8, 2, 128},
    {{513}, 1, 1, 64},
    {{130}, 2, 1, 128},
};

/// A window of one row, tiles that only one group of lines needs, tiles that no group needs, blocks whose
/// rows end before the sequence does, and a window longer than any row's history.
const AttentionShape kWindows[] = {
    {{130}, 1, 1, 128, 1},
    {{200, 70}, 1, 1, 64, 64},
    {{511}, 1, 1, 64, 65},
    {{260}, 2, 1, 64, 191},
    {{150}, 1, 1, 64, 2147483647},
};

/// The columns of `matrix` that hold heads [first, first + count).
TensorView heads_of(const DeviceRows& matrix, int64_t first, int64_t count) {
  TensorView view(matrix.memory.data() + first * matrix.head_dim, DType::kBF16, {matrix.rows, count, matrix.head_dim});
  view.row_stride = matrix.stride;
  return view;
}

std::vector<float> side_by_side(std::initializer_list<const std::vector<float>*> parts, int64_t rows) {
  std::vector<float> all;
  for (int64_t t = 0; t < rows; ++t) {
    for (const auto* part : parts) {
      const int64_t width = int64_t(part->size()) / rows;
      all.insert(all.end(), part->begin() + t * width, part->begin() + (t + 1) * width);
    }
  }
  return all;
}

}  // namespace

TEST(gradients_have_the_bits_of_mma_and_agree_with_the_cpu) {
  NEEDS_HOPPER_ATTENTION;
  for (const AttentionShape& shape : kShapes) check(shape);
}

TEST(so_they_do_under_a_window) {
  NEEDS_HOPPER_ATTENTION;
  for (const AttentionShape& shape : kWindows) check(shape);
}

TEST(so_they_do_for_shapes_that_nobody_chose) {
  NEEDS_HOPPER_ATTENTION;
  for (const int64_t dim : {64, 128}) {
    AttentionShape shape{{}, 2, 1, dim, int(random_int(0, 1) * random_int(1, 150))};
    for (int s = 0; s < 3; ++s) shape.lengths.push_back(int(random_int(0, 150)));
    check(shape);
  }
}

TEST(gradients_have_the_same_bits_twice_and_in_any_order_of_blocks) {
  NEEDS_HOPPER_ATTENTION;
  // the shim runs blocks, threads and copies in another random order at each launch
  const PackedBatch batch({{150, 20}, 2, 1, 64});
  const Forward forward = forward_of(batch);
  EXPECT_TRUE(same(batch.device_backward(forward), batch.device_backward(forward)));
}

TEST(inputs_may_be_columns_of_one_matrix_and_results_of_another) {
  NEEDS_HOPPER_ATTENTION;
  const PackedBatch batch({{70, 9}, 4, 2, 64});
  const Forward forward = forward_of(batch);
  const Gradients want = batch.device_backward(forward);
  const int64_t T = batch.shape.tokens(), H = 4, K = 2, D = 64;
  const DeviceRows qkv(side_by_side({&batch.q, &batch.k, &batch.v}, T), H + 2 * K, D, 8);
  const DeviceRows outs(side_by_side({&forward.out, &batch.dout}, T), 2 * H, D, 0), dqkv(T, H + 2 * K, D, 24);
  const DeviceArray<int32_t> cu(batch.starts);
  const DeviceArray<float> lse(forward.lse);
  Arena scratch(attention_packed_grad_scratch_bytes(device_stream(), T, H), "test", Memory::kDevice);
  attention_packed_grad(device_stream(),
                        {heads_of(qkv, 0, H), heads_of(qkv, H, K), heads_of(qkv, H + K, K),
                         cu.view(DType::kI32, {cu.size()}), heads_of(outs, 0, H), lse.view(DType::kF32, {T, H}),
                         heads_of(outs, H, H), heads_of(dqkv, 0, H), heads_of(dqkv, H, K), heads_of(dqkv, H + K, K),
                         batch.shape.scale(), 0, &scratch});
  const std::vector<float> got = dqkv.values(), wanted = side_by_side({&want.dq, &want.dk, &want.dv}, T);
  EXPECT_EQ(got.size(), wanted.size());
  EXPECT_TRUE(same_bits(got.data(), wanted.data(), int64_t(got.size())));
}

TEST(a_neighbour_that_is_not_a_number_changes_no_bit) {
  NEEDS_HOPPER_ATTENTION;
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const int64_t dim : {64, 128}) {
    PackedBatch batch({{70, 61, 66, 1}, 2, 1, dim});
    const int64_t Q = batch.shape.q_width(), K = batch.shape.kv_width(), H = batch.shape.heads;
    Forward forward = forward_of(batch);
    const Gradients clean = batch.device_backward(forward);
    const auto spoil = [&](std::vector<float>& x, int64_t width) {
      for (int64_t i = batch.starts[1] * width; i < batch.starts[2] * width; ++i) x[size_t(i)] = i % 3 ? nan : inf;
    };
    for (auto* x : {&batch.q, &batch.dout, &forward.out}) spoil(*x, Q);
    for (auto* x : {&batch.k, &batch.v}) spoil(*x, K);
    spoil(forward.lse, H);
    const Gradients spoiled = batch.device_backward(forward);
    for (const size_t s : {0u, 2u, 3u}) {
      const auto part = [&](const Gradients& g) {
        const auto rows = [&](const std::vector<float>& x, int64_t width) {
          return std::vector<float>(x.begin() + batch.starts[s] * width, x.begin() + batch.starts[s + 1] * width);
        };
        return Gradients{rows(g.dq, Q), rows(g.dk, K), rows(g.dv, K)};
      };
      EXPECT_TRUE(same(part(spoiled), part(clean)));
    }
  }
}

TEST(nothing_packed_has_no_gradients) {
  NEEDS_HOPPER_ATTENTION;
  EXPECT_EQ(PackedBatch({{}, 2, 1, 64}).device_backward({}).dq.size(), size_t(0));
  EXPECT_EQ(PackedBatch({{0, 0}, 2, 1, 128}).device_backward({}).dk.size(), size_t(0));
}

#else
TEST(cuda_packed_gradients_with_wgmma) { SKIP("built without CUDA"); }
#endif

}  // namespace kernels_cuda_attention_grad_sm90_test
