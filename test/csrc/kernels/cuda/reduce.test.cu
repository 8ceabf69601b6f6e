// Warp and block reductions: values, the same bits in every thread, and the same tree every time.
#include "kernels/cuda/reduce.cuh"

#include "core/cuda/launch.cuh"
#include "device.h"

using namespace hone;
using namespace hone::kernels::cuda;
using namespace hone::test;

namespace {

__global__ void reduce_kernel(const float* in, float* sums, float* maxima, double* wide) {
  __shared__ float scratch[32];
  __shared__ double wide_scratch[32];
  const int i = threadIdx.x;
  sums[i] = block_sum(in[i], scratch);
  maxima[i] = block_max(in[i], scratch);
  wide[i] = block_sum(double(in[i]), wide_scratch);
}

/// The tree of block_sum, written out: strides 16 to 1 within 32 values, then over the warps' sums.
float tree(std::vector<float> v) {
  v.resize(32, 0.0f);
  for (size_t stride = 16; stride > 0; stride /= 2) {
    for (size_t i = 0; i < stride; ++i) v[i] += v[i + stride];
  }
  return v[0];
}

}  // namespace

TEST(every_thread_gets_the_same_bits_of_the_stated_tree) {
  NEEDS_DEVICE;
  for (const int threads : {32, 64, 224, 1024}) {
    const std::vector<float> values = random_floats(threads);
    const DeviceArray<float> in(values);
    const DeviceArray<float> sums(threads), maxima(threads);
    const DeviceArray<double> wide(threads);
    HONE_LAUNCH(reduce_kernel, 1, threads, 0, device_stream(), in.data(), sums.data(), maxima.data(), wide.data());
    std::vector<float> warps;
    float largest = values[0];
    double exact = 0;
    for (size_t w = 0; w < size_t(threads); w += 32) {
      warps.push_back(tree({values.begin() + std::ptrdiff_t(w), values.begin() + std::ptrdiff_t(w) + 32}));
    }
    for (const float x : values) {
      largest = std::max(largest, x);
      exact += double(x);
    }
    const std::vector<float> s = sums.download(), m = maxima.download();
    const std::vector<double> d = wide.download();
    for (size_t i = 0; i < size_t(threads); ++i) {
      EXPECT_EQ(s[i], tree(warps));
      EXPECT_EQ(m[i], largest);
      EXPECT_NEAR(d[i], exact, 1e-12);
    }
  }
}

TEST_MAIN
