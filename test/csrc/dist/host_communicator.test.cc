// The conformance tests over threads of one process, and faults at critical moments.
#include "dist/host_communicator.h"

#include "conformance.h"
#include "local_ranks.h"

namespace dist_host_communicator_test {

using namespace hone;
using namespace hone::test;
using Kind = LocalFault::Kind;

namespace {

const Ranks threads = [](int size, milliseconds timeout, const RankBody& body) {
  return local_ranks(size, timeout, {}, body);
};

/// What three ranks throw when the fault happens on rank 1 in their second collective.
std::vector<std::string> struck(Kind kind, milliseconds timeout) {
  return local_ranks(3, timeout, {kind, 1, 2}, [](dist::Communicator& group, int rank) {
    std::vector<float> first{1.0f}, second(20'000, float(rank)), third{1.0f};
    group.all_reduce({}, view(first), dist::ReduceOp::kSum);
    group.all_reduce({}, view(second), dist::ReduceOp::kSum);
    group.all_reduce({}, view(third), dist::ReduceOp::kSum);
    group.wait({});
  });
}

}  // namespace

CONFORMANCE(threads)

TEST(a_death_before_or_within_a_collective_is_named) {
  for (const Kind kind : {Kind::kDies, Kind::kDiesHalfway}) {
    const auto said = struck(kind, kPatient);
    EXPECT_TRUE(has(said[1], "died, as it was told to"));
    for (int rank : {0, 2}) EXPECT_TRUE(has(said[size_t(rank)], "COLLECTIVE ") && has(said[size_t(rank)], "is gone"));
  }
}

TEST(a_rank_that_hangs_costs_everybody_the_time_out) {
  for (const std::string& text : struck(Kind::kHangs, kHasty)) EXPECT_EQ(text.rfind("COLLECTIVE ", 0), size_t(0));
}

TEST(another_count_is_told_by_whom_and_in_which_collective) {
  const auto said = struck(Kind::kWrongCount, kPatient);
  for (int rank : {0, 2}) {
    EXPECT_TRUE(has(said[size_t(rank)], "rank 1 calls all_reduce sum of f32[20001] as collective 2"));
  }
  EXPECT_EQ(said[1].rfind("COLLECTIVE ", 0), size_t(0));
}

TEST(what_the_thread_threw_is_told_once_by_whichever_call_comes_first) {
  local_ranks(2, kPatient, {Kind::kDies, 0, 1}, [](dist::Communicator& group, int rank) {
    std::vector<float> x{1.0f};
    group.all_reduce({}, view(x), dist::ReduceOp::kSum);
    if (rank == 1) {
      EXPECT_THROWS(group.close(), Code::kCollective);
    } else {
      const std::string end = outcome([&] {
        while (true) {
          group.all_reduce({}, view(x), dist::ReduceOp::kSum);
          std::this_thread::yield();
        }
      });
      EXPECT_TRUE(has(end, "COLLECTIVE rank 0 of 2: died"));
      EXPECT_TRUE(has(outcome([&] { group.wait({}); }), "STATE wait: the communicator is failed, not ready: rank 0 of 2: died"));
    }
    group.close();
  });
}

TEST(states_follow_what_happened) {
  auto groups = local_communicators(1, kPatient);
  dist::HostCommunicator& alone = *groups[0];
  EXPECT_TRUE(alone.state() == dist::State::kReady);
  alone.abort("enough");
  EXPECT_TRUE(alone.state() == dist::State::kAborted);
  std::vector<float> x{1.0f};
  EXPECT_TRUE(has(outcome([&] { alone.all_reduce({}, view(x), dist::ReduceOp::kSum); }),
                  "ABORTED all_reduce: the communicator is aborted, not ready: enough"));
  alone.close();
  EXPECT_TRUE(alone.state() == dist::State::kClosed);
  EXPECT_THROWS(alone.all_reduce({}, view(x), dist::ReduceOp::kSum), Code::kState);
}

}  // namespace dist_host_communicator_test
