// Which machine code of a release build a device uses: the products of this program are compiled for sm_80,
// sm_90a and as PTX of compute_90 (CMakeLists.txt), unlike those of a build for one GPU. On any device but
// 9.0a the body of a Hopper kernel is a trap, so that a wrong choice cannot pass.
#include "core/cuda/launch.cuh"
#include "device.h"
#include "kernels/cuda/matmul.h"
#include "kernels/cuda/wgmma.cuh"
#include "kernels/matmul.h"

namespace kernels_cuda_matmul_release_sm90_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

#ifdef HONE_CUDA_SHIM
TEST_SETUP { cuda_shim::set_capability(9); }
#endif

/// Writes 1 if this is the code for sm_90a.
__global__ void which_kernel(int* out) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  *out = 1;
#else
  *out = 0;
#endif
}

std::vector<float> product(const std::vector<float>& x, const std::vector<float>& w, int64_t m, int64_t n, int64_t k) {
  const DeviceArray<uint16_t> left(to_bf16(x)), right(to_bf16(w));
  const DeviceArray<float> y(m * n);
  linear(device_stream(), {left.view(DType::kBF16, {m, k}), {n, k, DType::kBF16, right.data()}, {}, y.view(DType::kF32, {m, n})});
  return y.download();
}

}  // namespace

TEST(a_release_runs_its_hopper_code_on_a_hopper) {
  NEEDS_DEVICE;
  if (!kernels::cuda::has_wgmma()) SKIP("no Hopper");
  const DeviceArray<int> out(1);
  HONE_LAUNCH(which_kernel, 1, 1, 0, device_stream(), out.data());
  EXPECT_EQ(out.download()[0], 1);
#ifndef HONE_CUDA_SHIM
  cudaFuncAttributes found;
  ::hone::cuda::check(cudaFuncGetAttributes(&found, which_kernel), "test");
  EXPECT_EQ(found.binaryVersion, 90);
#endif
}

TEST(a_release_multiplies_by_both_kernels) {
  NEEDS_DEVICE;
  for (const auto& [m, n, k] : {std::tuple<int64_t, int64_t, int64_t>{9, 40, 72}, {260, 264, 136}}) {
    std::vector<float> x(size_t(m * k)), w(size_t(n * k));
    for (float& v : x) v = float(random_int(-8, 8));
    for (float& v : w) v = float(random_int(-8, 8));
    for (const bool portable : {false, true}) {
      kernels::cuda::force_portable(portable);
      const std::vector<float> got = product(x, w, m, n, k);
      int64_t wrong = 0;
      for (int64_t i = 0; i < m * n; ++i) {
        float sum = 0;
        for (int64_t j = 0; j < k; ++j) sum += x[size_t(i / n * k + j)] * w[size_t(i % n * k + j)];
        wrong += !(got[size_t(i)] == sum);
      }
      EXPECT_EQ(wrong, 0);
    }
    kernels::cuda::force_portable(false);
  }
}

}  // namespace kernels_cuda_matmul_release_sm90_test
