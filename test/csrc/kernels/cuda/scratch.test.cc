// Scratch sizes compared with hand computation. Other tests, whose arenas have these sizes, show that kernels
// need no more.
#include "kernels/cuda/scratch.h"

#include "check.h"
#include "kernels/lm_head.h"
#include "kernels/matmul.h"

namespace kernels_cuda_scratch_test {

using namespace hone;

TEST(sizes_are_those_worked_out_by_hand) {
  // 131,072 ids in tiles of 128; 256 sampled rows: sums 256 x 1024 x 16, candidates x 12, logits x 4.
  // Gradients of 2,048 rows in bf16 need more.
  EXPECT_EQ(kernels::cuda::lm_head_scratch_bytes(256, 131072, 2048), 256 * 1024 * 28 + 256 * 131072 * 4);
  EXPECT_EQ(kernels::cuda::lm_head_scratch_bytes(1 << 20, 131072, 2048), int64_t(2048) * 131072 * 2);
  EXPECT_EQ(kernels::cuda::lm_head_scratch_bytes(1 << 20, 131072, 8192), int64_t(8192) * 131072 * 2);
  // With fewer rows than a chunk, the gradient needs memory for these rows only; then sampling 256 rows needs
  // more.
  EXPECT_EQ(kernels::cuda::lm_head_scratch_bytes(256, 131072, 8192), kernels::cuda::lm_head_scratch_bytes(256, 131072, 2048));
  // [1024, 4096]: 16 tiles of columns, so 8 pieces of k of 512 each, for at most 256 rows.
  EXPECT_EQ(kernels::cuda::linear_scratch_bytes(1000, 1024, 4096), 8 * 256 * 1024 * 4);
  EXPECT_EQ(kernels::cuda::linear_scratch_bytes(1000, 1 << 20, 4096), 0);
  EXPECT_EQ(kernels::cuda::rms_norm_grad_scratch_bytes(33, 64), 2 * 64 * 4);
  EXPECT_EQ(kernels::cuda::attention_packed_grad_scratch_bytes(100, 16), 100 * 16 * 4);
  // 64 rows of up to 4096 keys have 4096 / kAttentionSplit states each.
  const int64_t states = 64 * (4096 / kernels::kAttentionSplit);
  EXPECT_EQ(kernels::cuda::attention_paged_scratch_bytes(64, 8, 2, 128, 4096),
            (64 + states) * 16 + 64 + 256 + 64 * 2 * 4 + states * 8 * 128 * 4 + states * 8 * 2 * 4);
  EXPECT_EQ(kernels::cuda::strip_bytes(16384 * 9), 128);
  EXPECT_EQ(kernels::cuda::newton_schulz_bytes(64, 128), 64 * 128 * 6 + 64 * 64 * 12);
}

TEST(a_stream_on_a_gpu_is_answered_for_without_one) {
  const Stream gpu{.backend = Stream::Backend::kCuda};
  EXPECT_EQ(kernels::lm_head_scratch_bytes(gpu, 256, 64, 131072), kernels::cuda::lm_head_scratch_bytes(256, 131072, 2048));
  EXPECT_EQ(kernels::lm_head_scratch_bytes(gpu, 9000, 64, 131072, 8192),
            kernels::cuda::lm_head_scratch_bytes(9000, 131072, 8192));
  EXPECT_EQ(kernels::linear_scratch_bytes(gpu, 1000, 1024, 4096), kernels::cuda::linear_scratch_bytes(1000, 1024, 4096));
}

}  // namespace kernels_cuda_scratch_test
