// Thread-block clusters: blocks read each other's shared memory, and the host shim detects incorrect
// synchronisation.
#include "kernels/cuda/cluster.cuh"

#include "core/cuda/launch.cuh"
#include "device.h"
#ifdef HONE_CUDA_SHIM
#include "shim/machine.h"
#endif

namespace kernels_cuda_cluster_test {

using namespace hone;
using namespace hone::test;
using kernels::cuda::cluster_rank;
using kernels::cuda::cluster_sync;
using kernels::cuda::load_peer;

namespace {

constexpr int kThreads = 64, kCluster = 4, kBlocks = 12;

/// Every block writes its own numbers, and sums those of its cluster's blocks in ascending order. `first`,
/// `last`: whether it waits for the other blocks before it reads, and before it exits.
__global__ void sum_of_cluster_kernel(float* out, bool first, bool last, int most) {
  HONE_DYNAMIC_SHARED(float, mine);
  __shared__ int own;
  for (int i = int(threadIdx.x); i < 4 * kThreads; i += kThreads) mine[i] = float(1000 * int(blockIdx.x) + i);
  if (threadIdx.x == 0) own = int(blockIdx.x);
  __syncthreads();
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  if (first) cluster_sync();
  float4 sum = make_float4(0, 0, 0, 0);
  for (int rank = 0; rank < most; ++rank) {
    const float4 v = load_peer(reinterpret_cast<const float4*>(mine) + threadIdx.x, rank);
    sum = make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
  }
  float* const to = out + (int(blockIdx.x) * kThreads + int(threadIdx.x)) * 4;
  to[0] = sum.x, to[1] = sum.y, to[2] = sum.z, to[3] = sum.w;
  if (own != int(blockIdx.x) || cluster_rank() != int(blockIdx.x) % kCluster) to[0] = -1.0f;
  if (last) cluster_sync();
#endif
}

std::vector<float> run(bool first, bool last, int most = kCluster, int blocks = kBlocks) {
  const DeviceArray<float> out(int64_t(kBlocks) * kThreads * 4);
  HONE_LAUNCH_AS(hone::cuda::Launch{kCluster}, sum_of_cluster_kernel, unsigned(blocks), kThreads,
                 size_t(4 * kThreads) * sizeof(float), device_stream(), out.data(), first, last, most);
  return out.download();
}

bool has_clusters() {
#ifdef HONE_CUDA_SHIM
  cuda_shim::set_capability(9);
#endif
  return hone::cuda::device_attribute(cudaDevAttrComputeCapabilityMajor) >= 9;
}

}  // namespace

TEST(a_block_reads_what_the_others_of_its_cluster_wrote) {
  NEEDS_DEVICE;
  if (!has_clusters()) SKIP("no clusters");
  for (int repeat = 0; repeat < 5; ++repeat) {
    const std::vector<float> got = run(true, true);
    for (int i = 0; i < int(got.size()); ++i) {
      const int inside = i % (kThreads * 4), base = i / (kThreads * 4) / kCluster * kCluster;
      float wanted = 0;
      for (int rank = 0; rank < kCluster; ++rank) wanted += float(1000 * (base + rank) + inside);
      EXPECT_EQ(got[size_t(i)], wanted);
    }
  }
}

#ifdef HONE_CUDA_SHIM

namespace {

/// Whether the shim reports a fault in any of 20 runs, each with a random order of threads.
template <class Run>
bool faults(const Run& run) {
  for (int i = 0; i < 20; ++i) {
    try {
      run();
    } catch (const cuda_shim::Fault&) {
      return true;
    }
  }
  return false;
}

}  // namespace

TEST(peers_that_have_not_begun_or_have_left_and_clusters_that_cannot_be_are_faults) {
  has_clusters();
  EXPECT_TRUE(faults([] { run(false, true); }));
  EXPECT_TRUE(faults([] { run(true, false); }));
  EXPECT_TRUE(faults([] { run(true, true, kCluster + 1); }));
  EXPECT_TRUE(faults([] { run(true, true, kCluster, kBlocks - 1); }));
  cuda_shim::set_capability(8);
  EXPECT_TRUE(faults([] { run(true, true); }));
  cuda_shim::set_capability(9);
}

#endif

}  // namespace kernels_cuda_cluster_test
