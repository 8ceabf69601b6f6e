// The real NCCL with one rank, on machines with a GPU and the library: a group of one rank changes no data,
// whatever the operation, and can be left. nccl_communicator.test.cc has more ranks, with a stand-in for the
// library.
#include "dist/nccl_communicator.h"

#include "device.h"
#include "dist/nccl_group.h"

namespace dist_cuda_nccl_group_test {

using namespace hone;
using namespace hone::dist;
using namespace hone::test;

#ifdef HONE_CUDA_SHIM
TEST(a_stream_that_is_still_at_work_leaves_no_error_for_the_next_launch) {
  NEEDS_DEVICE;
  cuda_shim::stay_busy(2);
  for (const bool idle : {false, false, true}) {
    EXPECT_EQ(stream_idle(device_stream()), idle);
    EXPECT_TRUE(cudaGetLastError() == cudaSuccess);
  }
}
#endif

TEST(a_group_of_one_on_a_gpu_gives_back_what_it_is_given) {
  NEEDS_DEVICE;
  if (on_shim()) SKIP("NCCL wants a GPU");
  const NcclInfo found = query_nccl();
  if (found.version.empty()) SKIP(found.reason.c_str());
#ifdef HONE_HAVE_CUDA
  NcclCommunicator group(NcclLibrary::open());
  group.initialise(NcclCommunicator::make_id(*NcclLibrary::open()), 0, 1);
  EXPECT_TRUE(group.state() == State::kReady);
  const Stream stream = device_stream();
  for (const int64_t n : {1, 5, 4096}) {
    const std::vector<float> given = random_floats(n);
    const DeviceArray<float> in(given), gathered(n), scattered(n), swapped(n);
    const auto view = [n](const DeviceArray<float>& x) { return x.view(DType::kF32, {n}); };
    group.all_gather(stream, view(in), view(gathered));
    group.reduce_scatter(stream, view(in), view(scattered), ReduceOp::kSum);
    group.all_to_all(stream, view(in), view(swapped));
    group.all_reduce(stream, view(in), ReduceOp::kMax);
    group.broadcast(stream, view(in), 0);
    group.wait(stream);
    for (const auto* result : {&in, &gathered, &scattered, &swapped}) {
      EXPECT_TRUE(same_bits(result->download().data(), given.data(), n));
    }
  }
  group.close();
  EXPECT_TRUE(group.state() == State::kClosed);
  EXPECT_THROWS(group.all_reduce(stream, {}, ReduceOp::kSum), Code::kState);
#endif
}

}  // namespace dist_cuda_nccl_group_test
