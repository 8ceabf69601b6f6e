// Whether an element of wgmma's result has the same bits anywhere: at 16, 64, 128 and 256 columns, in any
// column and any row, with the left operand in shared memory or in registers. This is not documented, and
// every guarantee about Hopper's products depends on it. In the host shim it is true by construction; only a
// GPU can show it.
//
// Faults put into the shim's wgmma, each detected: sums truncated at 16 columns only, at 256 only, or with
// the left operand in registers only; one column that rounds up.
#include "kernels/cuda/wgmma.cuh"

#include <map>

#include "core/cuda/launch.cuh"
#include "device.h"
#include "fragments.cuh"
#include "kernels/cuda/matmul.h"
#include "kernels/cuda/tma.cuh"
#include "kernels/cuda/tma_map.h"

namespace kernels_cuda_wgmma_sm90_test {

using namespace hone;
using namespace hone::kernels::cuda;
using namespace hone::test;

namespace {

#ifdef HONE_CUDA_SHIM
TEST_SETUP { cuda_shim::set_capability(9); }
#endif

enum class Left { kShared, kRegisters };

constexpr uint32_t kBytesA = 64 * 128;

/// out [64, kColumns] (column-major) = lines from_a.. of a times lines from_b.. of b, over 64 * steps k in
/// one sum.
template <int kColumns, Left kLeft>
__global__ void __launch_bounds__(128) chain_kernel(const __grid_constant__ CUtensorMap a,
                                                   const __grid_constant__ CUtensorMap b, float* out, int from_a,
                                                   int from_b, int steps) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  HONE_DYNAMIC_SHARED(unsigned char, shared);
  unsigned char* const tile_a = shared + (1024 - shared_address(shared) % 1024) % 1024;
  unsigned char* const tile_b = tile_a + kBytesA;
  constexpr uint32_t kBytes = kBytesA + kColumns * 128;
  uint64_t* const barrier = reinterpret_cast<uint64_t*>(tile_a + kBytes);
  if (threadIdx.x == 0) {
    barrier_init(barrier, 1);
    barriers_made();
  }
  __syncthreads();
  float sums[kColumns / 2];
  for (int step = 0; step < steps; ++step) {
    if (threadIdx.x == 0) {
      barrier_arrive_expecting(barrier, kBytes);
      copy_box(tile_a, a, 64 * step, from_a, barrier);
      copy_box(tile_b, b, 64 * step, from_b, barrier);
    }
    barrier_wait(barrier, unsigned(step) & 1u);
    [[maybe_unused]] uint32_t left[4][4];
    if constexpr (kLeft == Left::kRegisters) {
#pragma unroll
      for (int i = 0; i < 4; ++i) load_fragment<0>(tile_a, 16 * i, left[i]);
    }
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const uint64_t b_at = hopper_descriptor(false, shared_address(tile_b) + i * hopper_step(false));
      const int add = step != 0 || i != 0;
      if constexpr (kLeft == Left::kRegisters) {
        wgmma_bf16<0>(sums, left[i], b_at, add);
      } else {
        wgmma_bf16<0, 0>(sums, hopper_descriptor(false, shared_address(tile_a) + i * hopper_step(false)), b_at, add);
      }
    }
    wgmma_commit();
    wgmma_wait<0>();
    wgmma_settle(sums);
    __syncthreads();  // all threads are done before the tiles are overwritten
  }
#pragma unroll
  for (int i = 0; i < kColumns / 2; ++i) out[element_of(i)] = sums[i];
#endif
}

constexpr int64_t kLinesA = 80, kLinesB = 384;

/// Random lines of k values, and, for every pair of lines, the first sum that was computed.
struct Chain {
  int64_t depth;
  std::vector<float> a, b;
  DeviceArray<uint16_t> a_bits, b_bits;
  std::map<std::pair<int64_t, int64_t>, float> seen;
  int64_t compared = 0, different = 0;

  explicit Chain(int64_t k)
      : depth(k), a(rounded_to_bf16(random_floats(kLinesA * k))), b(rounded_to_bf16(random_floats(kLinesB * k))),
        a_bits(to_bf16(a)), b_bits(to_bf16(b)) {}

  template <int kColumns, Left kLeft>
  void multiply(int64_t from_a, int64_t from_b) {
    const auto map = [&](const DeviceArray<uint16_t>& bits, int64_t lines, uint32_t box) {
      return tensor_map(reinterpret_cast<const __nv_bfloat16*>(bits.data()), lines, depth, depth, box, "a test's operand");
    };
    const DeviceArray<float> out(64 * kColumns);
    HONE_LAUNCH((chain_kernel<kColumns, kLeft>), 1, 128, 1024 + kBytesA + kColumns * 128 + 8, device_stream(),
                map(a_bits, kLinesA, 64), map(b_bits, kLinesB, kColumns), out.data(), int(from_a), int(from_b),
                int(depth / 64));
    const std::vector<float> got = out.download();
    for (int64_t j = 0; j < kColumns && from_b + j < kLinesB; ++j) {
      for (int64_t i = 0; i < 64 && from_a + i < kLinesA; ++i) {
        const float sum = got[size_t(i + 64 * j)];
        const auto [at, fresh] = seen.try_emplace({from_a + i, from_b + j}, sum);
        if (!fresh) ++compared, different += !same_bits(&at->second, &sum, 1);
      }
    }
  }
  template <int kColumns>
  void multiply_everywhere() {
    for (const int64_t from_b : {0, 1, 8, 40, 128}) multiply<kColumns, Left::kShared>(0, from_b);
    multiply<kColumns, Left::kShared>(13, 67);
    multiply<kColumns, Left::kRegisters>(0, 5);
    multiply<kColumns, Left::kRegisters>(16, 128);
  }
  /// The largest error compared with f64, relative to the root of the sum of squared products.
  double error() const {
    double most = 0;
    for (const auto& [lines, sum] : seen) {
      double exact = 0, squares = 0;
      for (int64_t i = 0; i < depth; ++i) {
        const double x = double(a[size_t(lines.first * depth + i)]) * double(b[size_t(lines.second * depth + i)]);
        exact += x, squares += x * x;
      }
      const double error = std::fabs(double(sum) - exact) / std::sqrt(squares);
      most = error <= most ? most : error;  // NaN counts as the largest
    }
    return most;
  }
};

}  // namespace

TEST(an_element_of_wgmma_has_the_same_bits_at_every_width_column_and_row) {
  NEEDS_DEVICE;
  if (!has_wgmma()) SKIP("no Hopper");
  Chain chain(on_shim() ? 128 : 1536);
  chain.multiply_everywhere<256>();
  chain.multiply_everywhere<128>();
  chain.multiply_everywhere<64>();
  chain.multiply_everywhere<16>();
  EXPECT_TRUE(chain.compared > int64_t(chain.seen.size()));
  EXPECT_EQ(chain.different, 0);
  if (chain.different > 0) note(show(chain.different) + " of " + show(chain.compared) + " elements have other bits elsewhere");
  EXPECT_TRUE(chain.error() <= 1e-5);
}

}  // namespace kernels_cuda_wgmma_sm90_test
