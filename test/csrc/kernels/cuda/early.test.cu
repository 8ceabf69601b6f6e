// Kernels that start before the preceding one has ended: what they wait for, and faults that the host shim
// must detect.
#include "kernels/cuda/early.cuh"

#include "core/cuda/launch.cuh"
#include "device.h"
#ifdef HONE_CUDA_SHIM
#include "shim/machine.h"
#endif

namespace kernels_cuda_early_test {

using namespace hone;
using namespace hone::test;
using kernels::cuda::await_predecessor;

namespace {

constexpr int kThreads = 256, kBlocks = 300;

enum class Broken { kNothing, kReads, kWrites, kLeaves, kNever };

/// to[i] = 2 from[i + 1] + weight[i], where i + 1 wraps around. kBroken selects one fault.
template <Broken kBroken>
__global__ void early_kernel(const float* from, float* to, const float* weight, int n) {
  __shared__ float weights[kThreads];
  const int i = int(blockIdx.x) * kThreads + int(threadIdx.x);
  weights[threadIdx.x] = weight[i];
  float value = kBroken == Broken::kReads ? from[(i + 1) % n] : 0.0f;
  if (kBroken == Broken::kWrites && i % 7 == 0) to[i] = -1.0f;
  if (kBroken == Broken::kLeaves && i % 1000 == 999) return;
  if (kBroken != Broken::kNever) await_predecessor();
  if (kBroken != Broken::kReads) value = from[(i + 1) % n];
  if (kBroken != Broken::kWrites || i % 7) to[i] = 2.0f * value + weights[threadIdx.x];
}

/// The result of `count` such kernels, launched one after the other, on 0, 1, 2, ...
template <Broken kBroken>
std::vector<float> run(int blocks, int count) {
  const int n = blocks * kThreads;
  std::vector<float> start(static_cast<size_t>(n)), weight(start);
  for (int i = 0; i < n; ++i) start[size_t(i)] = float(i % 1024), weight[size_t(i)] = float(i % 5);
  DeviceArray<float> from(start), to(start);
  const DeviceArray<float> weights(weight);
  const Stream s = device_stream();
  for (int k = 0; k < count; ++k, std::swap(from, to)) {
    HONE_LAUNCH_EARLY(early_kernel<kBroken>, unsigned(blocks), kThreads, 0, s, from.data(), to.data(), weights.data(), n);
  }
  return from.download();
}

std::vector<float> wanted(int blocks, int count) {
  const int n = blocks * kThreads;
  std::vector<float> at(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) at[size_t(i)] = float(i % 1024);
  for (int k = 0; k < count; ++k) {
    std::vector<float> next(at);
    for (int i = 0; i < n; ++i) next[size_t(i)] = 2.0f * at[size_t((i + 1) % n)] + float(i % 5);
    at = next;
  }
  return at;
}

}  // namespace

// There are more blocks than run at once, so that a kernel's last blocks start when the next kernel could.
TEST(a_chain_of_kernels_that_begin_early_has_the_result_of_one_after_the_other) {
  NEEDS_DEVICE;
  const int blocks = on_shim() ? 3 : 10 * kBlocks, count = on_shim() ? 4 : 12;
  for (int repeat = 0; repeat < (on_shim() ? 2 : 20); ++repeat) {
    EXPECT_TRUE(run<Broken::kNothing>(blocks, count) == wanted(blocks, count));
  }
}

#ifdef HONE_CUDA_SHIM

namespace {

/// Makes the shim a Hopper on which kernels start before the preceding one has ended.
struct Ahead {
  Ahead() { cuda_shim::set_capability(9), cuda_shim::run_ahead(true); }
  ~Ahead() { cuda_shim::run_ahead(false), cuda_shim::set_capability(8); }
};

template <Broken kBroken>
std::string fault_of() {
  try {
    run<kBroken>(5, 2);
  } catch (const cuda_shim::Fault& fault) {
    return fault.what();
  }
  return "";
}

}  // namespace

TEST(the_shim_shows_what_a_kernel_reads_or_writes_too_early) {
  EXPECT_TRUE(has_device());
  const Ahead ahead;
  EXPECT_TRUE(run<Broken::kNothing>(5, 6) == wanted(5, 6));
  EXPECT_TRUE(run<Broken::kReads>(5, 1) == wanted(5, 1));  // there was no preceding kernel
  EXPECT_TRUE(run<Broken::kReads>(5, 2) != wanted(5, 2));
  EXPECT_TRUE(run<Broken::kWrites>(5, 3) != wanted(5, 3));
}

TEST(a_thread_that_leaves_without_waiting_is_a_fault) {
  EXPECT_TRUE(has_device());
  EXPECT_EQ(fault_of<Broken::kNever>(), std::string());  // on 8.0 no kernel starts early
  const Ahead ahead;
  EXPECT_TRUE(fault_of<Broken::kNever>().find("without waiting") != std::string::npos);
  EXPECT_TRUE(fault_of<Broken::kLeaves>().find("without waiting") != std::string::npos);
  EXPECT_EQ(fault_of<Broken::kNothing>(), std::string());
}

TEST(nobody_runs_ahead_of_a_copy_or_of_another_streams_kernel) {
  EXPECT_TRUE(has_device());
  const Ahead ahead;
  const int n = 2 * kThreads;
  const DeviceArray<float> zeros(std::vector<float>(static_cast<size_t>(n), 0.0f));
  DeviceArray<float> from(n), to(n);
  const Stream s = device_stream();
  const auto launch = [&] {
    HONE_LAUNCH_EARLY(early_kernel<Broken::kReads>, 2u, kThreads, 0, s, from.data(), to.data(), zeros.data(), n);
    return to.download() == std::vector<float>(static_cast<size_t>(n), 2.0f);
  };
  const std::vector<float> ones(static_cast<size_t>(n), 1.0f);
  hone::cuda::check(cudaMemcpy(from.data(), ones.data(), size_t(n) * 4, cudaMemcpyHostToDevice), "test");
  EXPECT_TRUE(launch());
  Stream other = s;
  cudaStream_t handle = nullptr;
  hone::cuda::check(cudaStreamCreate(&handle), "test");
  other.handle = handle;
  const DeviceArray<float> halves(std::vector<float>(static_cast<size_t>(n), 0.5f));
  HONE_LAUNCH_EARLY(early_kernel<Broken::kNothing>, 2u, kThreads, 0, other, halves.data(), from.data(), zeros.data(), n);
  EXPECT_TRUE(launch());
  cudaStreamDestroy(handle);
}

#endif

}  // namespace kernels_cuda_early_test
