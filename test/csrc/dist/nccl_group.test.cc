// NcclGroup when ranks hang, vanish, fail or are aborted: every wait ends, no communicator stays open, and no
// call is one that NCCL forbids.
#include <atomic>

#include "ranks.h"

namespace dist_nccl_group_test {

using namespace hone;
using namespace hone::test;

TEST(a_rank_that_never_comes_is_given_up_at_the_time_out_and_everything_is_released) {
  fake().reset({});
  const auto library = NcclLibrary::open(HONE_FAKE_NCCL);
  NcclCommunicator alone(library, options(kShort));
  const auto start = std::chrono::steady_clock::now();
  const std::string said = outcome([&] { alone.initialise(NcclCommunicator::make_id(*library), 0, 2); });
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(said, std::string("COLLECTIVE initialise: rank 0 of 2: no answer within 60 ms (is every rank running?)."));
  EXPECT_TRUE(took >= kShort && took < milliseconds(10'000));
  EXPECT_TRUE(alone.state() == State::kFailed);
  EXPECT_EQ(fake().live() + fake().misuses(), 0);
  EXPECT_EQ(fake().aborts(), 1);
}

TEST(an_initialisation_that_hangs_fails_everybody_in_time) {
  const auto said = ranks(3, {.init_hangs = 1, .peers_notice = false}, options(kShort), [](auto& group, auto&, int rank) {
    EXPECT_TRUE(rank != 1);
    group.close();
  });
  EXPECT_EQ(said[0] + said[2], std::string("okok"));
  EXPECT_TRUE(has(said[1], "COLLECTIVE initialise: rank 1 of 3: no answer within 60 ms"));
  EXPECT_EQ(fake().aborts(), 1);
}

TEST(a_slow_initialisation_is_polled_until_it_is_done) {
  expect_all(ranks(2, {.init_polls = 9}, options(), [](NcclCommunicator& group, const Stream&, int) { group.close(); }), "ok");
  EXPECT_TRUE(fake().polls() >= 2 * 10);
}

TEST(a_rank_that_does_not_call_is_given_up_at_the_time_out) {
  std::atomic<int> failed{0};
  const auto said = ranks(2, {.peers_notice = false}, options(kLong, kShort), [&](auto& group, const Stream& stream, int rank) {
    std::vector<float> x(8, 1.0f);
    if (rank == 1) {
      while (failed == 0) std::this_thread::yield();
      return;  // ends without a collective
    }
    group.all_reduce(stream, view(x), ReduceOp::kSum);
    const std::string end = outcome([&] { group.wait(stream); });
    EXPECT_TRUE(group.state() == State::kFailed);
    failed = 1;
    fail(Code::kCollective, "%s", end.c_str());
  });
  EXPECT_TRUE(has(said[0], "COLLECTIVE wait: rank 0 of 2: no end within 60 ms"));
  EXPECT_EQ(said[1], std::string("ok"));
  EXPECT_EQ(fake().aborts(), 2);  // one by the rank that failed, one by the other rank's destructor
}

TEST(a_rank_that_is_gone_shows_at_the_others_as_a_remote_error) {
  const auto said = ranks(3, {}, options(), [](NcclCommunicator& group, const Stream& stream, int rank) {
    std::vector<float> x(8, 1.0f);
    if (rank == 2) return;  // its communicator is destroyed, and so aborted
    group.all_reduce(stream, view(x), ReduceOp::kSum);
    group.wait(stream);
  });
  for (int rank : {0, 1}) {
    EXPECT_TRUE(has(said[size_t(rank)], "COLLECTIVE ") &&
                has(said[size_t(rank)], "NCCL says: remote process exited (remote log)"));
  }
  EXPECT_EQ(said[2], std::string("ok"));
}

TEST(an_error_reported_later_ends_the_next_wait_and_then_every_call) {
  const auto said = ranks(2, {.breaks = 0, .breaks_at = 1}, options(), [](NcclCommunicator& group, const Stream& stream, int rank) {
    std::vector<float> x(8, 1.0f);
    group.all_reduce(stream, view(x), ReduceOp::kSum);
    group.all_reduce(stream, view(x), ReduceOp::kSum);
    if (rank == 1) return group.wait(stream);
    EXPECT_THROWS(group.wait(stream), Code::kCollective);
    group.wait(stream);
  });
  EXPECT_TRUE(has(said[0], "STATE wait: the communicator is failed, not ready: wait: NCCL says: system error"));
}

TEST(an_operation_that_is_refused_fails_the_group) {
  const auto said = ranks(2, {.refused = 1, .refused_at = 0}, options(), [](NcclCommunicator& group, const Stream& stream, int) {
    std::vector<float> x(8, 1.0f), y(8);
    group.all_to_all(stream, view(x), view(y));
    group.wait(stream);
  });
  EXPECT_TRUE(has(said[1], "COLLECTIVE all_to_all: rank 1 of 2: NCCL says: misuse"));
  EXPECT_TRUE(has(said[0], "COLLECTIVE "));
}

TEST(closing_waits_for_the_end_and_gives_up_on_one_that_hangs) {
  expect_all(ranks(2, {.finalize_polls = 5}, options(), [](auto& group, auto&, int) { group.close(); }), "ok");
  EXPECT_EQ(fake().aborts(), 0);
  const auto said = ranks(2, {.finalize_hangs = 0, .peers_notice = false}, options(kLong, kShort), [](auto& group, auto&, int) {
    group.close();
  });
  EXPECT_TRUE(has(said[0], "COLLECTIVE close: rank 0 of 2: no answer within 60 ms"));
  EXPECT_EQ(said[1], std::string("ok"));
  EXPECT_EQ(fake().aborts(), 1);
}

TEST(abort_from_another_thread_ends_a_wait_an_initialisation_and_a_slow_call) {
  for (const bool during_init : {true, false}) {
    fake().reset({.enqueue_polls = during_init ? 0 : 1 << 30, .peers_notice = false});
    const auto library = NcclLibrary::open(HONE_FAKE_NCCL);
    NcclCommunicator group(library, options());
    std::thread other([&] {
      while (fake().polls() < 3) std::this_thread::yield();
      group.abort("a signal came");
      group.abort("twice");
    });
    std::vector<float> x(4);
    const std::string said = outcome([&] {
      group.initialise(NcclCommunicator::make_id(*library), 0, during_init ? 2 : 1);
      group.all_reduce({}, view(x), ReduceOp::kSum);
    });
    other.join();
    const std::string what = during_init ? "initialise" : "all_reduce", was = during_init ? "initialising" : "ready";
    EXPECT_EQ(said, "ABORTED " + what + ": the communicator is aborted, not " + was + ": a signal came.");
    EXPECT_TRUE(group.state() == State::kAborted);
    EXPECT_EQ(fake().live() + fake().misuses(), 0);
    EXPECT_EQ(fake().aborts(), 1);
  }
}

TEST(abort_while_an_operation_is_in_flight_ends_the_wait_at_once) {
  std::atomic<int> waiting{0};
  NcclCommunicator* first = nullptr;
  std::thread other;
  const auto said = ranks(2, {.peers_notice = false}, options(), [&](NcclCommunicator& group, const Stream& stream, int rank) {
    if (rank == 1) {
      while (waiting < 2) std::this_thread::yield();
      return;
    }
    first = &group;
    // freed when the function exits, after which the library must not access it
    std::vector<float> x(1 << 12, 1.0f);
    group.all_reduce(stream, view(x), ReduceOp::kSum);
    other = std::thread([&] {
      while (fake().polls() < 20) std::this_thread::yield();
      first->abort("enough");
    });
    const std::string end = outcome([&] { group.wait(stream); });
    other.join();
    waiting = 2;
    fail(Code::kAborted, "%s", end.c_str());
  });
  EXPECT_EQ(said[0], std::string("ABORTED ABORTED wait: the communicator is aborted, not ready: enough."));
}

TEST(a_device_error_while_waiting_fails_the_group) {
  CommunicatorOptions broken = options();
  broken.idle = [](const Stream&) -> bool { fail(Code::kCollective, "CUDA says: illegal address"); };
  const auto said = ranks(1, {}, broken, [](NcclCommunicator& group, const Stream& stream, int) {
    EXPECT_THROWS(group.wait(stream), Code::kCollective);
    EXPECT_TRUE(group.state() == State::kFailed);
  });
  expect_all(said, "ok");
  EXPECT_EQ(fake().aborts(), 1);
}

TEST(whatever_goes_wrong_when_everybody_ends_and_nothing_is_left) {
  for (int round = 0; round < 60; ++round) {
    const int size = int(random_int(1, 4)), victim = int(random_int(0, size - 1)), at = int(random_int(0, 12));
    Faults faults{.init_polls = int(random_int(0, 3)), .enqueue_polls = int(random_int(0, 3))};
    const int kind = int(random_int(0, 4));
    if (kind == 1) faults.refused = victim, faults.refused_at = at;
    if (kind == 2) faults.breaks = victim, faults.breaks_at = at;
    const uint64_t order = test::random()();
    const auto said = ranks(size, faults, options(), [&](NcclCommunicator& group, const Stream& stream, int rank) {
      std::mt19937_64 same(order);
      std::vector<float> x = values(12, rank), y(12 * size_t(size)), z(12);
      std::thread other;
      if (kind == 3 && rank == victim) other = std::thread([&] { group.abort("by chance"); });
      const std::string end = outcome([&] {
        for (int step = 0; step < 12; ++step) {
          if (kind == 4 && rank == victim && step == at) return;
          const auto choice = same() % 5;
          if (choice == 0) group.all_reduce(stream, view(x), ReduceOp::kMax);
          if (choice == 1) group.all_gather(stream, view(x), view(y));
          if (choice == 2) group.reduce_scatter(stream, view(y), view(z), ReduceOp::kSum);
          if (choice == 3) group.broadcast(stream, view(x), int(same() % uint64_t(size)));
          if (choice == 4) group.wait(stream);
        }
        group.wait(stream);
        group.close();
      });
      if (other.joinable()) other.join();
      group.abort("the buffers go");
      if (kind == 0) EXPECT_EQ(end, std::string("ok"));
    });
    // a rank that was still joining when another left has its own message
    for (const std::string& text : said) {
      EXPECT_TRUE(text == "ok" || (kind != 0 && has(text, "COLLECTIVE initialise: ")));
    }
  }
}

}  // namespace dist_nccl_group_test
