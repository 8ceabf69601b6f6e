// cp.async: what a wait makes visible, what a missing wait leaves out, and zeros for invalid sources.
#include "kernels/cuda/async.cuh"

#include "core/cuda/launch.cuh"
#include "device.h"

namespace kernels_cuda_async_test {

using namespace hone;
using namespace hone::kernels::cuda;
using namespace hone::test;

namespace {

/// Copies `in` to `out` through shared memory, 4 floats per thread, in two groups; writes zeros beyond the
/// `valid` rows.
template <int Waits>
__global__ void copy_kernel(const float* in, float* out, int valid) {
  __shared__ __align__(16) float stage[2][128];
  const int i = threadIdx.x;
  for (int s = 0; s < 2; ++s) {
    cp_async16(&stage[s][4 * i], in + s * 128 + 4 * i, s * 32 + i < valid);
    cp_async_commit();
  }
  if (Waits >= 1) cp_async_wait<1>();
  __syncthreads();
  for (int k = 0; k < 4; ++k) out[4 * i + k] = stage[0][(4 * i + k + 5) % 128];
  if (Waits >= 2) cp_async_wait<0>();
  __syncthreads();
  for (int k = 0; k < 4; ++k) out[128 + 4 * i + k] = stage[1][(4 * i + k + 5) % 128];
}

/// Number of the two groups whose data arrives correctly.
template <int Waits>
int arrived(int valid) {
  const std::vector<float> values = random_floats(256);
  const DeviceArray<float> in(values);
  DeviceArray<float> out(256);
  HONE_LAUNCH(copy_kernel<Waits>, 1, 32, 0, device_stream(), in.data(), out.data(), valid);
  const std::vector<float> got = out.download();
  int groups = 0;
  for (size_t s = 0; s < 2; ++s) {
    bool same = true;
    for (size_t i = 0; i < 128; ++i) {
      const size_t from = s * 128 + (i + 5) % 128;
      same = same && got[s * 128 + i] == (int(from / 4) < valid ? values[from] : 0.0f);
    }
    groups += same;
  }
  return groups;
}

}  // namespace

TEST(groups_arrive_by_their_wait_and_zeros_where_nothing_is_valid) {
  NEEDS_DEVICE;
  for (const int valid : {64, 50, 32, 7, 0}) EXPECT_EQ(arrived<2>(valid), 2);
}

TEST(the_shim_delivers_nothing_before_the_wait) {
  if (!on_shim()) SKIP("the shim only");
  EXPECT_EQ(arrived<1>(64), 1);
  EXPECT_EQ(arrived<0>(64), 0);
}

}  // namespace kernels_cuda_async_test
