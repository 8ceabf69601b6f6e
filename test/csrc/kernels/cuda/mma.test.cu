// ldmatrix and mma.sync: the fragment layouts of mma.cuh, tested by a product that any misplaced element
// would change.
#include "kernels/cuda/mma.cuh"

#include "core/cuda/launch.cuh"
#include "device.h"

namespace kernels_cuda_mma_test {

using namespace hone;
using namespace hone::kernels::cuda;
using namespace hone::test;

namespace {

/// c [16, 8] += a [16, 16] b; b is stored as [8, 16] (column major) or, if Transposed, as [16, 8].
template <bool Transposed>
__global__ void tile_kernel(const uint16_t* a, const uint16_t* b, float* c) {
  __shared__ __align__(16) uint16_t tile_a[16][16];
  __shared__ __align__(16) uint16_t tile_b[2][8][16];  // twice: ldmatrix_x4 takes four matrices
  const int lane = threadIdx.x;
  for (int i = lane; i < 256; i += 32) tile_a[i / 16][i % 16] = a[i];
  for (int i = lane; i < 256; i += 32) (&tile_b[0][0][0])[i] = b[i % 128];
  __syncwarp();
  uint32_t ra[4], rb[4];
  ldmatrix_x4(ra, &tile_a[lane % 16][lane / 16 * 8]);
  const uint16_t* plain = &tile_b[lane / 16][lane % 8][lane / 8 % 2 * 8];
  const uint16_t* across = &tile_b[lane / 16][0][0] + lane % 16 * 8;
  if (Transposed) ldmatrix_x4_trans(rb, across);
  else ldmatrix_x4(rb, plain);
  const int g = lane / 4, t = lane % 4;
  float d[4] = {c[g * 8 + 2 * t], c[g * 8 + 2 * t + 1], c[(g + 8) * 8 + 2 * t], c[(g + 8) * 8 + 2 * t + 1]};
  mma_bf16_16816(d, ra, {rb[2], rb[3]});
  c[g * 8 + 2 * t] = d[0];
  c[g * 8 + 2 * t + 1] = d[1];
  c[(g + 8) * 8 + 2 * t] = d[2];
  c[(g + 8) * 8 + 2 * t + 1] = d[3];
}

__global__ void exp2_kernel(const float* x, float* y) { y[threadIdx.x] = exp2_normal(x[threadIdx.x]); }

void expect_product(bool transposed) {
  // Small integers: every sum is exact in f32 whatever the order and rounding.
  std::vector<float> a(256), b(128), c(128);
  for (float& x : a) x = float(random_int(-8, 8));
  for (float& x : b) x = float(random_int(-8, 8));
  for (float& x : c) x = float(random_int(-8, 8));
  const DeviceArray<uint16_t> da(to_bf16(a)), db(to_bf16(b));
  const DeviceArray<float> dc(c);
  if (transposed) HONE_LAUNCH(tile_kernel<true>, 1, 32, 0, device_stream(), da.data(), db.data(), dc.data());
  else HONE_LAUNCH(tile_kernel<false>, 1, 32, 0, device_stream(), da.data(), db.data(), dc.data());
  const std::vector<float> got = dc.download();
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 8; ++j) {
      float sum = c[size_t(i * 8 + j)];
      for (int k = 0; k < 16; ++k) sum += a[size_t(i * 16 + k)] * b[size_t(transposed ? k * 8 + j : j * 16 + k)];
      EXPECT_EQ(got[size_t(i * 8 + j)], sum);
    }
  }
}

}  // namespace

TEST(a_tile_product_is_exact_on_integers) {
  NEEDS_DEVICE;
  expect_product(false);
}

TEST(a_transposed_load_serves_rows_of_the_second_factor) {
  NEEDS_DEVICE;
  expect_product(true);
}

TEST(two_to_the_x_is_that_of_the_library_or_zero) {
  NEEDS_DEVICE;
  const std::vector<float> at{0.0f, -0.0f, 1.0f, -1.0f, 12.0f, -125.5f, -126.0f, -126.5f, -149.0f, -200.0f, -INFINITY, NAN,
                              0.3f, -0.7f, -17.25f, -80.1f};
  const DeviceArray<float> x(at), y(int64_t(at.size()));
  HONE_LAUNCH(exp2_kernel, 1, unsigned(at.size()), 0, device_stream(), x.data(), y.data());
  const std::vector<float> got = y.download();
  for (size_t i = 0; i < at.size(); ++i) {
    const double exact = std::exp2(double(at[i]));
    if (std::isnan(at[i])) EXPECT_TRUE(std::isnan(got[i]));
    else if (at[i] < -126.0f) EXPECT_EQ(got[i], 0.0f);
    else EXPECT_NEAR(got[i], exact, 2.5e-7 * exact);
  }
}

}  // namespace kernels_cuda_mma_test
