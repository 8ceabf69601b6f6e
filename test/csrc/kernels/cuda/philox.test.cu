// Philox on a device, compared with core/philox.h, which is tested with the published vectors.
#include "kernels/cuda/philox.cuh"

#include "core/cuda/launch.cuh"
#include "core/philox.h"
#include "device.h"

namespace kernels_cuda_philox_test {

using namespace hone;
using namespace hone::test;

namespace {

__global__ void words_kernel(uint64_t key, uint32_t* out) {
  uint32_t words[4] = {threadIdx.x, 0xffffffffu - threadIdx.x, 7, threadIdx.x * 0x9E3779B9u};
  kernels::cuda::philox4x32(words, key);
  for (int i = 0; i < 4; ++i) out[4 * threadIdx.x + i] = words[i];
}

}  // namespace

TEST(words_are_those_of_the_host) {
  NEEDS_DEVICE;
  constexpr uint64_t kKey = 0xa4093822299f31d0u;
  const DeviceArray<uint32_t> words(4 * 32);
  HONE_LAUNCH(words_kernel, 1, 32, 0, device_stream(), kKey, words.data());
  const std::vector<uint32_t> got = words.download();
  for (uint32_t i = 0; i < 32; ++i) {
    const auto wanted = philox4x32({i, 0xffffffffu - i, 7, i * 0x9E3779B9u}, {uint32_t(kKey), uint32_t(kKey >> 32)});
    for (uint32_t word = 0; word < 4; ++word) EXPECT_EQ(got[4 * i + word], wanted[word]);
  }
}

}  // namespace kernels_cuda_philox_test
