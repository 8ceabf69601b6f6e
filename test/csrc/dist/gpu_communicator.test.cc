// GpuCommunicator: which group runs a call, when NCCL's group is set up, and that both groups are closed and
// aborted together.
#include "dist/gpu_communicator.h"

#include "gpu_ranks.h"

namespace dist_gpu_communicator_test {

using namespace hone;
using namespace hone::dist;
using namespace hone::test;

TEST(what_lies_on_hosts_goes_over_hosts_and_nccl_is_formed_when_it_is_needed) {
  for (const int size : {1, 3}) {
    expect_all(gpu_ranks(size, {}, [&](GpuCommunicator& group, const Stream& gpu, int rank) {
      EXPECT_TRUE(group.rank() == rank && group.size() == size);
      const auto everything = [&](const Stream& stream) {
        const int64_t n = 5;
        std::vector<float> sum = values(n, rank), sent = values(n, rank), own = values(n, rank), wide = values(n * size, rank);
        std::vector<float> all(size_t(n * size)), part(size_t(n), 0.0f), swapped = all, apart = all;
        group.all_reduce(stream, view(sum), ReduceOp::kSum);
        group.broadcast(stream, view(sent), size - 1);
        group.all_gather(stream, view(own), view(all));
        group.reduce_scatter(stream, view(wide), view(part), ReduceOp::kSum);
        group.all_to_all(stream, view(wide), view(swapped));
        group.team_all_to_all(stream, view(wide), view(apart), size);
        group.wait(stream);
        for (int64_t i = 0; i < n; ++i) {
          float of_all = 0, of_part = 0;
          for (int from = 0; from < size; ++from) {
            of_all += values(n, from)[size_t(i)], of_part += values(n * size, from)[size_t(rank * n + i)];
            EXPECT_EQ(all[size_t(from * n + i)], values(n, from)[size_t(i)]);
            EXPECT_EQ(swapped[size_t(from * n + i)], values(n * size, from)[size_t(rank * n + i)]);
          }
          EXPECT_TRUE(sum[size_t(i)] == of_all && part[size_t(i)] == of_part && sent[size_t(i)] == values(n, size - 1)[size_t(i)]);
        }
        EXPECT_TRUE(apart == swapped);
      };
      everything({});
      group.wait(gpu);  // returns, since there is nothing to wait for
      EXPECT_EQ(fake().live(), 0);
      std::vector<float> x(static_cast<size_t>(size)), y = x;
      // team_all_to_all cannot set up NCCL's group
      EXPECT_THROWS(group.team_all_to_all(gpu, view(x), view(y), size), Code::kState);
      EXPECT_EQ(fake().live(), 0);
      everything(gpu);
      EXPECT_TRUE(fake().live() > 0);
      group.close();
      EXPECT_THROWS(everything({}), Code::kState);
      EXPECT_THROWS(everything(gpu), Code::kState);
      group.close();
    }), "ok");
  }
}

TEST(an_abort_ends_what_waits_in_either_group) {
  for (const bool on_gpus : {false, true}) {
    const auto said = gpu_ranks(2, {}, [&](GpuCommunicator& group, const Stream& gpu, int rank) {
      std::vector<float> x(4);
      group.all_reduce(gpu, view(x), ReduceOp::kSum);
      group.wait(gpu);
      if (rank == 1) {
        group.abort("the run ends");
        EXPECT_THROWS(group.all_reduce({}, view(x), ReduceOp::kSum), Code::kAborted);
        EXPECT_THROWS(group.all_reduce(gpu, view(x), ReduceOp::kSum), Code::kAborted);
        return;
      }
      const Stream stream = on_gpus ? gpu : Stream{};
      group.all_reduce(stream, view(x), ReduceOp::kSum);
      group.wait(stream);
    });
    EXPECT_EQ(said[1], std::string("ok"));
    EXPECT_TRUE(has(said[0], "COLLECTIVE"));
  }
}

TEST(a_rank_without_nccl_says_so_and_nobody_waits_for_it_for_ever) {
  const auto said = gpu_ranks(2, {.init_fails = 1}, [&](GpuCommunicator& group, const Stream& gpu, int rank) {
    std::vector<float> x(4);
    try {
      group.all_reduce(gpu, view(x), ReduceOp::kSum);
    } catch (...) {
      if (rank == 1) group.abort("it has no NCCL");
      throw;
    }
  }, kShort);
  EXPECT_TRUE(has(said[1], "COLLECTIVE initialise") && has(said[1], "system error"));
}

}  // namespace dist_gpu_communicator_test
