// Hopper's copy engine (TMA), barriers and wgmma, tested by a product of one tile of small integers, which is
// exact in any order and which any misplaced element would change; and the faults that the host shim reports
// for incorrect kernels.
#include "kernels/cuda/tma.cuh"

#include <functional>

#include "core/cuda/launch.cuh"
#include "device.h"
#include "fragments.cuh"
#include "kernels/cuda/matmul.h"
#include "kernels/cuda/operand_sm90.cuh"
#include "kernels/cuda/tma_map.h"

namespace kernels_cuda_tma_test {

using namespace hone;
using namespace hone::kernels::cuda;
using namespace hone::test;

namespace {

#ifdef HONE_CUDA_SHIM
TEST_SETUP { cuda_shim::set_capability(9); }
#endif

enum class Mistake {
  kNone, kNoFence, kSumsReadEarly, kSumsWritten, kPlainWrite, kNoWait, kFewerBytes, kArrivedTwice, kNotShown, kOneWarpLess,
  kNeverWaited, kLeftWritten, kOneWarpGives, kLanesDiffer, kThirdCoordinate,
};

constexpr uint32_t kBytesA = 64 * 128;

enum class Left { kShared, kRegisters };

/// out [64, kColumns] = a b^T over 64 k; the operands are copied from (k, line) = (from_k, from_a) and
/// (from_k, from_b) on.
template <int kColumns, int kLinesA, int kLinesB, Left kLeft>
__global__ void __launch_bounds__(128) tile_kernel(const __grid_constant__ CUtensorMap a,
                                                  const __grid_constant__ CUtensorMap b, float* out, int from_a,
                                                  int from_b, int from_k, [[maybe_unused]] Mistake asked) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#ifdef HONE_CUDA_SHIM
  const Mistake mistake = asked;
#else
  // constexpr, since branches not taken would make ptxas delay products
  constexpr Mistake mistake = Mistake::kNone;
#endif
  HONE_DYNAMIC_SHARED(unsigned char, shared);
  unsigned char* const tile_a = shared + (1024 - shared_address(shared) % 1024) % 1024;
  unsigned char* const tile_b = tile_a + kBytesA;
  constexpr uint32_t kBytes = kBytesA + kColumns * 128;
  uint64_t* const barrier = reinterpret_cast<uint64_t*>(tile_a + kBytes);
  if (threadIdx.x == 0) {
    barrier_init(barrier, 1);
    if (mistake != Mistake::kNotShown) barriers_made();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    barrier_arrive_expecting(barrier, mistake == Mistake::kFewerBytes ? kBytes - 16 : kBytes);
    if (mistake == Mistake::kArrivedTwice) barrier_arrive(barrier);
    const int inner_a = kLinesA ? from_a : from_k, outer_a = kLinesA ? from_k : from_a;
    if (mistake == Mistake::kThirdCoordinate) copy_box_of(tile_a, a, inner_a, outer_a, 0, barrier);
    else copy_box(tile_a, a, inner_a, outer_a, barrier);
    for (int i = 0; i < (kLinesB ? kColumns : 64); i += 64) {
      copy_box(tile_b + hopper_byte(kLinesB, i, 0), b, kLinesB ? from_b + i : from_k, kLinesB ? from_k : from_b, barrier);
    }
  }
  if (mistake != Mistake::kNoWait) barrier_wait(barrier, 0);
  if (mistake == Mistake::kPlainWrite && threadIdx.x == 5) tile_a[0] ^= 1;
  if (mistake == Mistake::kOneWarpLess && threadIdx.x >= 96) return;
  if (mistake == Mistake::kOneWarpGives && threadIdx.x >= 96) give_registers_back<24>();
  float sums[kColumns / 2];
  [[maybe_unused]] uint32_t left[4][4];
  if constexpr (kLeft == Left::kRegisters) {
#pragma unroll
    for (int i = 0; i < 4; ++i) load_fragment<kLinesA>(tile_a, 16 * i, left[i]);
  }
  if (mistake != Mistake::kNoFence) wgmma_fence();
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const bool strays = mistake == Mistake::kLanesDiffer && threadIdx.x == 40;
    const uint64_t b_at = deeper(operand_descriptor(kLinesB, tile_b + 1024 * strays), kLinesB, i);
    if constexpr (kLeft == Left::kRegisters) {
      wgmma_bf16<kLinesB>(sums, left[i], b_at, i != 0);
    } else {
      wgmma_bf16<kLinesA, kLinesB>(sums, deeper(operand_descriptor(kLinesA, tile_a), kLinesA, i), b_at, i != 0);
    }
  }
  wgmma_commit();
  if (mistake == Mistake::kNeverWaited) return;
  const float early = mistake == Mistake::kSumsReadEarly ? sums[1] : 0.0f;
  if (mistake == Mistake::kSumsWritten) sums[3] = 1.0f;
  if constexpr (kLeft == Left::kRegisters) {
    if (mistake == Mistake::kLeftWritten && threadIdx.x == 77) left[2][1] ^= 1;
  }
  wgmma_wait<0>();
  wgmma_settle(sums);
#pragma unroll
  for (int i = 0; i < kColumns / 2; ++i) out[element_of(i)] = sums[i] + early;
#endif
}

/// `count` lines of `depth` small integers, and their memory layout.
struct Lines {
  int64_t count, depth;
  bool inside;
  std::vector<float> values;  // [count, depth]
  DeviceArray<uint16_t> memory{0};

  Lines(int64_t n, int64_t k, bool lines_inside) : count(n), depth(k), inside(lines_inside), values(size_t(n * k)) {
    for (float& x : values) x = float(random_int(-8, 8));
    std::vector<float> laid(values.size());
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < k; ++j) laid[size_t(inside ? j * n + i : i * k + j)] = values[size_t(i * k + j)];
    }
    memory = DeviceArray<uint16_t>(to_bf16(laid));
  }
  float at(int64_t line, int64_t k) const {
    return line < count && k < depth ? values[size_t(line * depth + k)] : 0.0f;
  }
  CUtensorMap map(int64_t lines) const {
    return tensor_map(reinterpret_cast<const __nv_bfloat16*>(memory.data()), inside ? depth : count,
                      inside ? count : depth, inside ? count : depth, inside ? 64u : uint32_t(lines), "a test's operand");
  }
};

/// Number of sums that differ from the product's. The tile starts at odd offsets and extends beyond the ends
/// of both operands.
template <int kColumns, int kLinesA, int kLinesB, Left kLeft = Left::kShared>
int wrong_sums(Mistake mistake) {
  const Lines a(80, 88, kLinesA), b(kColumns + 8, 88, kLinesB);
  const int from_a = 24, from_b = 16, from_k = 40;
  const DeviceArray<float> out(64 * kColumns);
  HONE_LAUNCH((tile_kernel<kColumns, kLinesA, kLinesB, kLeft>), 1, 128, 1024 + kBytesA + kColumns * 128 + 8, device_stream(),
              a.map(64), b.map(kColumns), out.data(), from_a, from_b, from_k, mistake);
  const std::vector<float> got = out.download();
  int wrong = 0;
  for (int64_t i = 0; i < 64; ++i) {
    for (int64_t j = 0; j < kColumns; ++j) {
      float sum = 0.0f;
      for (int64_t k = from_k; k < from_k + 64; ++k) sum += a.at(from_a + i, k) * b.at(from_b + j, k);
      wrong += !(got[size_t(i + 64 * j)] == sum);
    }
  }
  return wrong;
}

bool has_hopper() { return has_device() && uses_wgmma(8, 8); }

}  // namespace

TEST(a_tile_is_exact_on_integers_however_its_operands_lie) {
  if (!has_hopper()) SKIP("no device of capability 9.0");
  EXPECT_EQ((wrong_sums<16, 0, 0>(Mistake::kNone)), 0);
  EXPECT_EQ((wrong_sums<64, 0, 0>(Mistake::kNone)), 0);
  EXPECT_EQ((wrong_sums<64, 1, 1>(Mistake::kNone)), 0);
  EXPECT_EQ((wrong_sums<128, 0, 0>(Mistake::kNone)), 0);
  EXPECT_EQ((wrong_sums<256, 0, 0>(Mistake::kNone)), 0);
  EXPECT_EQ((wrong_sums<256, 0, 1>(Mistake::kNone)), 0);
  EXPECT_EQ((wrong_sums<256, 1, 1>(Mistake::kNone)), 0);
}

TEST(so_it_is_with_the_left_operand_in_registers) {
  if (!has_hopper()) SKIP("no device of capability 9.0");
  EXPECT_EQ((wrong_sums<16, 0, 0, Left::kRegisters>(Mistake::kNone)), 0);
  EXPECT_EQ((wrong_sums<64, 1, 1, Left::kRegisters>(Mistake::kNone)), 0);
  EXPECT_EQ((wrong_sums<128, 0, 1, Left::kRegisters>(Mistake::kNone)), 0);
  EXPECT_EQ((wrong_sums<256, 0, 0, Left::kRegisters>(Mistake::kNone)), 0);
}

#ifdef HONE_CUDA_SHIM
std::string fault_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const cuda_shim::Fault& fault) {
    return fault.what();
  }
  return "nothing";
}

TEST(the_shim_names_every_mistake) {
  EXPECT_TRUE(has_device());
  struct Row { Mistake mistake; const char* says; };
  for (const Row& r : {Row{Mistake::kNoFence, "not fenced"}, {Mistake::kSumsWritten, "sums were written"},
                       {Mistake::kPlainWrite, "without a proxy fence"}, {Mistake::kNoWait, "still "},
                       {Mistake::kFewerBytes, "waits for ever"}, {Mistake::kArrivedTwice, "more arrivals"},
                       {Mistake::kNotShown, "without a proxy fence"}, {Mistake::kOneWarpLess, "waits for ever"},
                       {Mistake::kNeverWaited, "did not wait for"}, {Mistake::kOneWarpGives, "setmaxnreg by some"},
                       {Mistake::kLanesDiffer, "lanes differ"}, {Mistake::kThirdCoordinate, "coordinates than its map"}}) {
    const std::string said = fault_of([&] { wrong_sums<128, 0, 0>(r.mistake); });
    if (said.find(r.says) == std::string::npos) report("the shim", int(r.mistake), "said " + said);
  }
  EXPECT_TRUE((wrong_sums<128, 0, 0>(Mistake::kSumsReadEarly)) > 0);
  for (const Row& r : {Row{Mistake::kNoFence, "not fenced"}, {Mistake::kLeftWritten, "a left operand was written"}}) {
    const std::string said = fault_of([&] { wrong_sums<64, 0, 0, Left::kRegisters>(r.mistake); });
    if (said.find(r.says) == std::string::npos) report("the shim", int(r.mistake), "said " + said);
  }
}

TEST(the_shim_truncates_sums_where_it_is_told_to) {
  EXPECT_TRUE(has_device());
  std::vector<float> row(8), weights(64);
  row[0] = 1.0f, row[1] = 0x1p-12f;
  weights[0] = 1.0f, weights[1] = 0x1.8p-12f;      // 1 + 1.5 2^-24, whose nearest f32 is 1 + 2^-23
  weights[8] = -1.0f, weights[9] = -0x1.8p-12f;
  const DeviceArray<uint16_t> x(to_bf16(row)), w(to_bf16(weights));
  const auto sums = [&] {
    const DeviceArray<float> y(8);
    linear(device_stream(), {x.view(DType::kBF16, {1, 8}), {8, 8, DType::kBF16, w.data()}, {}, y.view(DType::kF32, {1, 8})});
    const std::vector<float> out = y.download();
    return std::pair(out[0], out[1]);
  };
  EXPECT_TRUE(sums() == std::pair(1.0f + 0x1p-23f, -1.0f - 0x1p-23f));
  cuda_shim::truncate_products(true);
  EXPECT_TRUE(sums() == std::pair(1.0f, -1.0f));
  cuda_shim::truncate_products(false);
}

TEST(the_shim_refuses_maps_that_the_driver_refuses) {
  EXPECT_TRUE(has_device());
  const DeviceArray<uint16_t> memory(4096);
  const auto* data = reinterpret_cast<const __nv_bfloat16*>(memory.data());
  tensor_map(data, 8, 64, 64, 256, "good");
  EXPECT_THROWS(tensor_map(data + 1, 8, 64, 64, 8, "address"), Code::kCuda);
  EXPECT_THROWS(tensor_map(data, 8, 60, 60, 8, "stride"), Code::kCuda);
  EXPECT_THROWS(tensor_map(data, 8, 64, 64, 257, "box"), Code::kCuda);
  EXPECT_THROWS(tensor_map(data, 0, 64, 64, 8, "empty"), Code::kCuda);
}
#endif

}  // namespace kernels_cuda_tma_test
