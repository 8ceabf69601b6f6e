// Warp and block reductions: their values, equal bits in every thread, and a fixed tree.
#include "kernels/cuda/reduce.cuh"

#include "core/cuda/launch.cuh"
#include "device.h"

namespace kernels_cuda_reduce_test {

using namespace hone;
using namespace hone::kernels::cuda;
using namespace hone::test;

namespace {

__global__ void reduce_kernel(const float* in, float* sums, double* wide) {
  __shared__ float scratch[32];
  __shared__ double wide_scratch[32];
  const int i = threadIdx.x;
  sums[i] = block_sum(in[i], scratch);
  wide[i] = block_sum(double(in[i]), wide_scratch);
}

constexpr int kResults = 12;

/// What each lane gets from every kind of warp exchange; out [kResults, 32].
__global__ void exchange_kernel(int* out) {
  const int lane = threadIdx.x, mine = lane * lane + 3;
  const unsigned all = kFullWarp, half = lane < 16 ? 0x0000ffffu : 0xffff0000u;
  const int results[kResults] = {__shfl_sync(all, mine, 37),
                                 __shfl_sync(all, mine, lane / 2, 8),
                                 __shfl_up_sync(all, mine, 3),
                                 __shfl_up_sync(all, mine, 3, 16),
                                 __shfl_down_sync(all, mine, 5),
                                 __shfl_down_sync(all, mine, 5, 8),
                                 __shfl_xor_sync(all, mine, 21),
                                 int(__ballot_sync(all, lane % 3 == 0)),
                                 __any_sync(all, lane == 9) + 2 * __all_sync(all, lane < 31),
                                 int(__reduce_add_sync(half, unsigned(mine))),
                                 __reduce_min_sync(half, 5 - mine),
                                 int(__reduce_max_sync(half, unsigned(mine)))};
  for (int i = 0; i < kResults; ++i) out[32 * i + lane] = results[i];
}

/// The expected results of exchange_kernel, by the definitions in the CUDA programming guide.
std::vector<int> exchanges() {
  std::vector<int> out(32 * kResults);
  const auto value = [](int lane) { return lane * lane + 3; };
  for (int lane = 0; lane < 32; ++lane) {
    int sum = 0, ballot = 0;
    for (int i = 0; i < 16; ++i) sum += value(lane / 16 * 16 + i);
    for (int i = 0; i < 32; i += 3) ballot |= int(1u << i);
    const int results[kResults] = {value(37 % 32),
                                   value(lane / 8 * 8 + lane / 2 % 8),
                                   value(lane < 3 ? lane : lane - 3),
                                   value(lane % 16 < 3 ? lane : lane - 3),
                                   value(lane + 5 > 31 ? lane : lane + 5),
                                   value(lane % 8 + 5 > 7 ? lane : lane + 5),
                                   value(lane ^ 21),
                                   ballot,
                                   1,
                                   sum,
                                   5 - value(lane / 16 * 16 + 15),
                                   value(lane / 16 * 16 + 15)};
    for (int i = 0; i < kResults; ++i) out[size_t(32 * i + lane)] = results[i];
  }
  return out;
}

/// The tree of block_sum: strides 16 to 1 within 32 values, then over the warps' sums.
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
    const DeviceArray<float> sums(threads);
    const DeviceArray<double> wide(threads);
    HONE_LAUNCH(reduce_kernel, 1, threads, 0, device_stream(), in.data(), sums.data(), wide.data());
    std::vector<float> warps;
    double exact = 0;
    for (size_t w = 0; w < size_t(threads); w += 32) {
      warps.push_back(tree({values.begin() + std::ptrdiff_t(w), values.begin() + std::ptrdiff_t(w) + 32}));
    }
    for (const float x : values) exact += double(x);
    const std::vector<float> s = sums.download();
    const std::vector<double> d = wide.download();
    for (size_t i = 0; i < size_t(threads); ++i) {
      EXPECT_EQ(s[i], tree(warps));
      EXPECT_NEAR(d[i], exact, 1e-12);
    }
  }
}

TEST(lanes_exchange_values_as_the_programming_guide_says) {
  NEEDS_DEVICE;
  const DeviceArray<int> out(32 * kResults);
  HONE_LAUNCH(exchange_kernel, 1, 32, 0, device_stream(), out.data());
  EXPECT_TRUE(out.download() == exchanges());
}

}  // namespace kernels_cuda_reduce_test
