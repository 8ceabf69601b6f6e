// The sampling noise of a key has the CPU's bits, and f64's values within f32 precision. Faults put into the
// code: u itself instead of its distance from 1, detected by both tests; nine rounds of Philox (bits);
// negation instead of subtraction, which gives -0 for the last word (ends).
#include "kernels/cuda/lm_head_row.cuh"

#include "core/cuda/launch.cuh"
#include "device.h"
#include "kernels/cpu/lm_head_block.h"

namespace hone::kernels::cpu {
void cpu_noise(const SampleKey& key, int64_t n, float* out) {
  HONE_PICK(gumbel_row)({key.position, key.attempt, key.problem, uint32_t(key.run_seed), uint32_t(key.run_seed >> 32)},
                        n, out);
}
}  // namespace hone::kernels::cpu

namespace kernels_cuda_lm_head_row_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

__global__ void noise_kernel(SampleKey key, int blocks, float* out) {
  const int block = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (block >= blocks) return;
  uint32_t words[4];
  kernels::cuda::sample_words(key, uint32_t(block), words);
  for (int i = 0; i < 4; ++i) out[4 * block + i] = kernels::cuda::gumbel(words[i]);
}

__global__ void gumbel_kernel(const uint32_t* words, int n, float* out) {
  if (int(threadIdx.x) < n) out[threadIdx.x] = kernels::cuda::gumbel(words[threadIdx.x]);
}

}  // namespace

TEST(noise_has_the_cpu_s_bits) {
  NEEDS_DEVICE;
  if (cpu::isa() == cpu::Isa::kBaseline) SKIP("the baseline instruction set has no fused multiply-add");
  const int n = 20000;
  const SampleKey key{hone::test::random()(), 7, 3, 12345};
  DeviceArray<float> out(n);
  HONE_LAUNCH(noise_kernel, dim3(unsigned(n / 4 + 127) / 128), dim3(128), 0, device_stream(), key, n / 4, out.data());
  std::vector<float> expected = poison(n);
  cpu::cpu_noise(key, n, expected.data());
  EXPECT_TRUE(same_bits(out.download().data(), expected.data(), n));
}

// Gumbel noise is -log(E) with E = -log(u), u from 32 random bits. Near u = 1 E is small, and a relative error of
// 2^-32 in u is one of E; f32 logarithms add errors of 3e-7. log(0) is taken as -88.
TEST(noise_is_precise_at_both_ends) {
  NEEDS_DEVICE;
  const std::vector<uint32_t> words = {0u, 1u, 2u, 1000u, 0x7fffffffu, 0xbfffffffu, 0xc0000000u, 0xc0000100u,
                                       0xfff00000u, 0xffff0000u, 0xfffffff0u, 0xfffffffeu, 0xffffffffu};
  DeviceArray<float> out(int64_t(words.size()));
  const DeviceArray<uint32_t> in(words);
  HONE_LAUNCH(gumbel_kernel, dim3(1), dim3(32), 0, device_stream(), in.data(), int(words.size()), out.data());
  const std::vector<float> noise = out.download();
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    const double expected = -std::log(-std::log(open_closed_u32(words[i])));
    EXPECT_NEAR(noise[i], expected, 1e-6 * (1 + std::fabs(expected)));
  }
  EXPECT_NEAR(noise.back(), 88.0, 0.1);
}

}  // namespace kernels_cuda_lm_head_row_test
