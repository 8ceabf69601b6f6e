// Kernel launches, and faults that the host shim must detect: on a GPU each broken kernel here would return
// garbage.
#include "core/cuda/launch.cuh"
#include "core/device.h"

#include "device.h"

namespace core_cuda_launch_test {

using namespace hone;
using namespace hone::test;

namespace {

__global__ void index_kernel(int* out, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width) out[y * width + x] = 1000 * y + x;
}

/// Rotates a block's values by one through shared memory; `Broken` selects one fault.
template <int Broken>
__global__ void rotate_kernel(const float* in, float* out) {
  __shared__ float values[64];
  const int i = threadIdx.x;
  if (Broken == 1 && i == 63) return;
  values[i] = in[blockIdx.x * 64 + i];
  if (Broken == 0 || Broken == 1) __syncthreads();
  if (Broken == 2 && i < 32) __syncthreads();
  if (Broken == 2 && i >= 32) __syncthreads();
  out[blockIdx.x * 64 + i] = values[(i + 1) % 64];
}

__global__ void dynamic_kernel(float* out, int n, int at) {
  HONE_DYNAMIC_SHARED(float, values);
  if (threadIdx.x == 0 && blockIdx.x == 0) values[at] = 1.0f;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = values[n - 1];
}

/// Exchanges values within a warp; `Broken` selects a fault: a lane exits, takes another branch, or is not in
/// its own mask.
template <int Broken>
__global__ void lanes_kernel(int* out) {
  const int lane = threadIdx.x;
  if (Broken == 1 && lane == 5) return;
  int got = 0;
  if (Broken == 2 && lane < 16) got = __shfl_sync(0xffffffffu, lane, 0);
  else got = __shfl_sync(Broken == 3 ? 0xfffffffeu : 0xffffffffu, lane, 1);
  out[lane] = got;
}

/// Uses static and dynamic shared memory, up to the last element of each.
__global__ void both_kernel(float* out, int n) {
  HONE_DYNAMIC_SHARED(float, values);
  __shared__ float fixed[32];
  fixed[threadIdx.x] = float(threadIdx.x);
  if (threadIdx.x == 0) values[n - 1] = 2.0f;
  __syncthreads();
  if (threadIdx.x == 0) *out = values[n - 1] + fixed[31];
}

__global__ void host_pointer_kernel(const float* in, float* out) { *out = *in; }

}  // namespace

TEST(every_thread_of_every_block_runs_once) {
  NEEDS_DEVICE;
  DeviceArray<int> out(7 * 50);
  HONE_LAUNCH(index_kernel, dim3(4, 7), dim3(16), 0, device_stream(), out.data(), 50);
  HONE_LAUNCH(index_kernel, dim3(0, 7), dim3(16), 0, device_stream(), out.data(), 50);
  const std::vector<int> values = out.download();
  for (int y = 0; y < 7; ++y) {
    for (int x = 0; x < 50; ++x) EXPECT_EQ(values[size_t(y * 50 + x)], 1000 * y + x);
  }
}

TEST(an_urgent_stream_goes_before_others) {
  NEEDS_DEVICE;
  const Device batch(Stream::Backend::kCuda, nullptr), urgent(Stream::Backend::kCuda, nullptr, Priority::kUrgent);
  int later = 0, sooner = 0;
  cuda::check(cudaStreamGetPriority(static_cast<cudaStream_t>(batch.stream().handle), &later), "test");
  cuda::check(cudaStreamGetPriority(static_cast<cudaStream_t>(urgent.stream().handle), &sooner), "test");
  EXPECT_TRUE(sooner < later);  // a lower number is a higher priority in CUDA
}

TEST(static_and_dynamic_shared_memory_together_may_exceed_what_a_launch_has_unasked) {
  NEEDS_DEVICE;
  for (const int n : {12256, 12257, 12288, 12289}) {
    DeviceArray<float> out(1);
    HONE_LAUNCH(both_kernel, dim3(1), dim3(32), size_t(n) * 4, device_stream(), out.data(), n);
    EXPECT_EQ(out.download()[0], 33.0f);
  }
}

namespace {

/// Whether rotate_kernel<Broken> gives the correct result.
template <int Broken>
bool rotates() {
  const std::vector<float> values = random_floats(4 * 64);
  const DeviceArray<float> in(values);
  DeviceArray<float> out(4 * 64);
  HONE_LAUNCH(rotate_kernel<Broken>, dim3(4), dim3(64), 0, device_stream(), in.data(), out.data());
  const std::vector<float> got = out.download();
  for (size_t i = 0; i < got.size(); ++i) {
    if (!(got[i] == values[i / 64 * 64 + (i + 1) % 64])) return false;
  }
  return true;
}

template <class F>
std::string fault_of([[maybe_unused]] F body) {
#ifdef HONE_CUDA_SHIM
  try {
    body();
  } catch (const cuda_shim::Fault& fault) {
    return fault.what();
  }
#endif
  return "";
}

bool says(const std::string& text, const char* words) { return text.find(words) != std::string::npos; }

}  // namespace

TEST(a_barrier_shows_what_other_threads_wrote) {
  NEEDS_DEVICE;
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(rotates<0>());
}

TEST(the_shim_catches_a_missing_barrier_in_every_order_of_threads) {
  if (!on_shim()) SKIP("the shim only");
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(!rotates<3>());
}

TEST(the_shim_names_threads_that_part_at_a_barrier) {
  if (!on_shim()) SKIP("the shim only");
  EXPECT_TRUE(has_device());
  const std::string early = fault_of([] { rotates<1>(); }), apart = fault_of([] { rotates<2>(); });
  EXPECT_TRUE(says(early, "thread 63 has left the kernel"));
  EXPECT_TRUE(says(apart, "threads part") && says(apart, "launch.test.cu"));
  EXPECT_TRUE(rotates<0>());  // the shim continues to work
}

TEST(the_shim_names_lanes_that_are_missing_from_an_exchange) {
  if (!on_shim()) SKIP("the shim only");
  const DeviceArray<int> out(32);
  const Stream s = device_stream();
  int* const to = out.data();
  EXPECT_TRUE(says(fault_of([&] { HONE_LAUNCH(lanes_kernel<1>, 1, 32, 0, s, to); }), "has left"));
  EXPECT_TRUE(says(fault_of([&] { HONE_LAUNCH(lanes_kernel<2>, 1, 32, 0, s, to); }), "lanes of a warp part"));
  EXPECT_TRUE(says(fault_of([&] { HONE_LAUNCH(lanes_kernel<3>, 1, 32, 0, s, to); }), "a mask it is not in"));
  EXPECT_TRUE(says(fault_of([&] { HONE_LAUNCH(lanes_kernel<0>, 1, 31, 0, s, to); }), "which the block does not have"));
  EXPECT_EQ(fault_of([&] { HONE_LAUNCH(lanes_kernel<0>, 1, 32, 0, s, to); }), std::string());
}

TEST(dynamic_shared_memory_is_as_large_as_asked_and_new_in_each_block) {
  NEEDS_DEVICE;
  DeviceArray<float> out(2);
  HONE_LAUNCH(dynamic_kernel, dim3(2), dim3(32), 100 * 1024, device_stream(), out.data(), 25600, 25599);
  std::vector<float> got = out.download();
  EXPECT_EQ(got[0], 1.0f);
  if (on_shim()) EXPECT_TRUE(std::isnan(got[1]));
}

TEST(the_shim_refuses_launches_that_a_device_would_refuse_or_misread) {
  if (!on_shim()) SKIP("the shim only");
  DeviceArray<float> out(2);
  const float host = 1.0f;
  const Stream s = device_stream();
  float* const to = out.data();
  EXPECT_TRUE(says(fault_of([&] { HONE_LAUNCH(host_pointer_kernel, 1, 1, 0, s, &host, to); }), "host memory"));
  EXPECT_TRUE(says(fault_of([&] { HONE_LAUNCH(dynamic_kernel, 1, 32, 228 * 1024, s, to, 1, 0); }), "shared memory"));
  EXPECT_TRUE(says(fault_of([&] { HONE_LAUNCH(dynamic_kernel, 1, 1025, 4, s, to, 1, 0); }), "1025 threads"));
}

// The runtime stores an error until it is queried; the next launch queries it.
TEST(a_launch_that_a_gpu_refuses_does_not_spoil_the_next) {
  NEEDS_DEVICE;
  if (on_shim()) SKIP("a GPU only");
  DeviceArray<float> out(1);
  float* const to = out.data();
  EXPECT_THROWS(HONE_LAUNCH(dynamic_kernel, 1, 32, size_t(1) << 20, device_stream(), to, 1, 0), Code::kCuda);
  HONE_LAUNCH(dynamic_kernel, 1, 32, 4, device_stream(), to, 1, 0);
  EXPECT_EQ(out.download()[0], 1.0f);
}

}  // namespace core_cuda_launch_test
