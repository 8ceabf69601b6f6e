// Tests that every communicator between hosts must pass. They run once for each way to create ranks: threads
// of one process, threads over sockets, processes. Ranks communicate only through the communicator, since
// they may be processes.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>

#include "dist/communicator.h"
#include "outcomes.h"

namespace hone::test {

using RankBody = std::function<void(dist::Communicator& group, int rank)>;
/// Runs `body` on `size` ranks concurrently, each with a communicator that is destroyed when its body ends.
/// Returns what each rank threw: its message, or "ok".
using Ranks = std::function<std::vector<std::string>(int size, milliseconds timeout, const RankBody& body)>;

inline constexpr milliseconds kPatient{20'000}, kHasty{300};

/// A signal that one rank gives once and other ranks wait for. Works for processes without shared memory.
class Word {
 public:
  Word() { EXPECT_EQ(pipe2(ends_, O_CLOEXEC), 0); }
  Word(const Word&) = delete;
  ~Word() {
    for (int end : ends_) close(end);
  }
  void say() const { EXPECT_EQ(write(ends_[1], "1", 1), ssize_t(1)); }
  /// Waits for say(), at most twice kPatient.
  void await() const {
    pollfd said{ends_[0], POLLIN, 0};
    poll(&said, 1, 2 * int(kPatient.count()));
  }

 private:
  int ends_[2] = {-1, -1};
};

/// The reduction of values() over all ranks, computed by a loop.
inline std::vector<float> reduced(dist::ReduceOp op, int size, int64_t length) {
  std::vector<float> total = values(length, 0);
  for (int r = 1; r < size; ++r) {
    const std::vector<float> x = values(length, r);
    for (size_t i = 0; i < x.size(); ++i) total[i] = op == dist::ReduceOp::kSum ? total[i] + x[i] : std::max(total[i], x[i]);
  }
  return total;
}

inline std::vector<float> slice(const std::vector<float>& from, int64_t begin, int64_t n) {
  return {from.begin() + begin, from.begin() + begin + n};
}

inline void check_collectives(dist::Communicator& group, int64_t n) {
  const int size = group.size(), rank = group.rank(), root = int(n) % size;
  const Stream stream;
  std::vector<float> sum = values(n, rank), most = sum, sent = sum, mine = sum, all = poison(n * size), part = poison(n);
  std::vector<float> wide = values(n * size, rank), swapped = poison(n * size);
  group.all_reduce(stream, view(sum), dist::ReduceOp::kSum);
  group.all_reduce(stream, view(most), dist::ReduceOp::kMax);
  group.broadcast(stream, view(sent), root);
  group.all_gather(stream, view(mine), view(all));
  group.reduce_scatter(stream, view(wide), view(part), dist::ReduceOp::kSum);
  group.all_to_all(stream, view(wide), view(swapped));
  group.wait(stream);
  EXPECT_TRUE(sum == reduced(dist::ReduceOp::kSum, size, n));
  EXPECT_TRUE(most == reduced(dist::ReduceOp::kMax, size, n));
  EXPECT_TRUE(sent == values(n, root));
  EXPECT_TRUE(part == slice(reduced(dist::ReduceOp::kSum, size, n * size), rank * n, n));
  for (int from = 0; from < size; ++from) {
    EXPECT_TRUE(slice(all, from * n, n) == values(n, from));
    EXPECT_TRUE(slice(swapped, from * n, n) == slice(values(n * size, from), rank * n, n));
  }
}

/// Tests sizes on both sides of the one from which all_reduce divides a buffer into parts; some are not a
/// multiple of the number of ranks.
inline void collectives_give_what_plain_loops_give(const Ranks& ranks) {
  for (int size : {1, 2, 3, 4}) {
    expect_all(ranks(size, kPatient, [&](dist::Communicator& group, int rank) {
      EXPECT_EQ(group.rank(), rank);
      EXPECT_EQ(group.size(), size);
      for (int64_t n : {1, 5, 64, 4096, 4097}) check_collectives(group, n);
      group.close();
    }), "ok");
  }
}

/// Checks that each of the `team` parts of a rank's source [team * n] arrives at the right rank of its team.
inline void check_team(dist::Communicator& group, int team, int64_t n) {
  const int rank = group.rank(), first = rank / team * team;
  std::vector<float> sent = values(n * team, rank), swapped = poison(n * team);
  group.team_all_to_all({}, view(sent), view(swapped), team);
  group.wait({});
  for (int from = 0; from < team; ++from) {
    EXPECT_TRUE(slice(swapped, from * n, n) == slice(values(n * team, first + from), (rank - first) * n, n));
  }
}

/// Between collectives of all ranks, each team makes its own number of exchanges.
inline void teams_exchange_among_themselves(const Ranks& ranks) {
  for (const auto& [size, team] : {std::pair{1, 1}, {2, 2}, {2, 1}, {3, 3}, {4, 2}, {4, 4}}) {
    expect_all(ranks(size, kPatient, [&, team = team](dist::Communicator& group, int rank) {
      for (int64_t n : {1, 4097}) {
        check_collectives(group, n);
        for (int call = 0; call <= rank / team; ++call) check_team(group, team, n + call);
      }
      group.close();
    }), "ok");
  }
}

inline void ranks_of_a_team_that_call_differently_are_told(const Ranks& ranks) {
  const auto said = ranks(4, kPatient, [](dist::Communicator& group, int rank) {
    std::vector<float> x(8, 1.0f), y(8), z(4, 1.0f);
    check_team(group, 2, 3);
    if (rank == 3) group.team_all_to_all({}, view(z), view(z), 2);
    if (rank != 3) group.team_all_to_all({}, view(x), view(y), 2);
    group.wait({});
  });
  EXPECT_EQ(said[0] + said[1], std::string("okok"));
  EXPECT_TRUE(has(said[2], "rank 3 calls team_all_to_all of f32[2] in teams of 2 as collective 2"));
  EXPECT_TRUE(has(said[3], "rank 2 calls team_all_to_all of f32[4] in teams of 2 as collective 2"));
}

inline void check_dtypes(dist::Communicator& group, int rank) {
  const Stream stream;
  std::vector<uint16_t> halves{f32_to_bf16(1.5f), f32_to_bf16(float(rank)), f32_to_bf16(256.0f)}, passed{uint16_t(rank)};
  std::vector<int64_t> wide{int64_t(rank) << 40, -1};
  std::vector<int32_t> ints{rank, rank * rank, -7};
  std::vector<uint8_t> flags{uint8_t(rank == 1), 0};
  std::vector<double> doubles{0.25 * rank};
  std::vector<uint32_t> versions{uint32_t(rank) + 4'000'000'000u};
  group.all_reduce(stream, {halves.data(), DType::kBF16, {3}}, dist::ReduceOp::kSum);
  group.all_reduce(stream, {wide.data(), DType::kI64, {2}}, dist::ReduceOp::kSum);
  group.all_reduce(stream, {ints.data(), DType::kI32, {3}}, dist::ReduceOp::kMax);
  group.all_reduce(stream, {flags.data(), DType::kU8, {2}}, dist::ReduceOp::kMax);
  group.all_reduce(stream, {doubles.data(), DType::kF64, {1}}, dist::ReduceOp::kSum);
  group.broadcast(stream, {versions.data(), DType::kU32, {1}}, 2);
  group.broadcast(stream, {passed.data(), DType::kF16, {1}}, 1);
  group.wait(stream);
  EXPECT_EQ(bf16_to_f32(halves[0]), 4.5f);
  EXPECT_EQ(bf16_to_f32(halves[1]), 3.0f);
  EXPECT_EQ(bf16_to_f32(halves[2]), 768.0f);
  EXPECT_EQ(wide[0], int64_t(3) << 40);
  EXPECT_EQ(wide[1], int64_t(-3));
  EXPECT_EQ(ints[0] * 100 + ints[1] * 10, 240);
  EXPECT_EQ(ints[2], -7);
  EXPECT_EQ(flags[0] * 10 + flags[1], 10);
  EXPECT_EQ(doubles[0], 0.75);
  EXPECT_EQ(versions[0], 4'000'000'002u);
  EXPECT_EQ(passed[0], 1);
}

inline void dtypes_arrive_as_they_are_and_add_in_their_own_arithmetic(const Ranks& ranks) {
  expect_all(ranks(3, kPatient, [](dist::Communicator& group, int rank) {
    check_dtypes(group, rank);
    group.close();
  }), "ok");
}

/// In f32, (0.1 + 1e8) - 1e8 is 0, but 0.1 + (1e8 - 1e8) is 0.1. Both algorithms of all_reduce, and
/// reduce_scatter, must add in rank order, which gives 0.
inline void sums_are_taken_in_the_order_of_ranks(const Ranks& ranks) {
  expect_all(ranks(3, kPatient, [](dist::Communicator& group, int rank) {
    const float of_rank[] = {0.1f, 1e8f, -1e8f};
    volatile float wanted = 0.1f + 1e8f;
    wanted = wanted + -1e8f;
    for (int64_t n : {2, 3 * 5000}) {
      std::vector<float> all(size_t(n), of_rank[rank]), wide(size_t(3 * n), of_rank[rank]), part(static_cast<size_t>(n));
      group.all_reduce({}, view(all), dist::ReduceOp::kSum);
      group.reduce_scatter({}, view(wide), view(part), dist::ReduceOp::kSum);
      group.wait({});
      EXPECT_EQ(std::count(all.begin(), all.end(), wanted), n);
      EXPECT_EQ(std::count(part.begin(), part.end(), wanted), n);
    }
    group.close();
  }), "ok");
}

inline void empty_buffers_move_nothing_and_nobody_waits_for_them(const Ranks& ranks) {
  expect_all(ranks(2, kHasty * 10, [](dist::Communicator& group, int rank) {
    std::vector<float> none;
    if (rank == 0) group.all_reduce({}, view(none), dist::ReduceOp::kSum);
    group.wait({});
    group.close();
  }), "ok");
}

inline void buffers_that_do_not_fit_are_refused_and_the_group_goes_on(const Ranks& ranks) {
  expect_all(ranks(2, kPatient, [](dist::Communicator& group, int rank) {
    const Stream stream;
    std::vector<float> a(6), b(4), c(5);
    std::vector<int32_t> ints(3);
    TensorView strided(a.data(), DType::kF32, {3, 2});
    strided.row_stride = 3;
    const TensorView nothing(nullptr, DType::kF32, {4}), integers = i32(ints.data(), {3});
    const TensorView halves(a.data(), DType::kF16, {4});
    EXPECT_THROWS(group.reduce_scatter(stream, view(a), view(b), dist::ReduceOp::kSum), Code::kShape);
    EXPECT_THROWS(group.reduce_scatter(stream, view(a), integers, dist::ReduceOp::kSum), Code::kShape);
    EXPECT_THROWS(group.all_gather(stream, view(a), view(b)), Code::kShape);
    EXPECT_THROWS(group.all_to_all(stream, view(a), view(b)), Code::kShape);
    EXPECT_THROWS(group.all_to_all(stream, view(c), view(c)), Code::kShape);
    EXPECT_THROWS(group.team_all_to_all(stream, view(c), view(c), 2), Code::kShape);
    for (int team : {-1, 0, 3, 4}) EXPECT_THROWS(group.team_all_to_all(stream, view(a), view(a), team), Code::kShape);
    EXPECT_THROWS(group.all_reduce(stream, strided, dist::ReduceOp::kSum), Code::kShape);
    EXPECT_THROWS(group.all_reduce(stream, nothing, dist::ReduceOp::kSum), Code::kShape);
    EXPECT_THROWS(group.all_reduce(stream, halves, dist::ReduceOp::kSum), Code::kShape);
    EXPECT_THROWS(group.broadcast(stream, view(a), 2), Code::kShape);
    EXPECT_THROWS(group.broadcast(stream, view(a), -1), Code::kShape);
    EXPECT_THROWS(group.broadcast({Stream::Backend::kCuda, nullptr, &rank}, view(a), 0), Code::kUnsupported);
    check_collectives(group, 3);
    group.close();
  }), "ok");
}

inline void different_calls_are_told_to_all_and_hang_nobody(const Ranks& ranks) {
  const auto said = ranks(3, kPatient, [](dist::Communicator& group, int rank) {
    std::vector<float> x(12, 1.0f), y(36);
    check_collectives(group, 2);  // six collectives
    if (rank == 1) group.broadcast({}, view(x), 2);
    if (rank != 1) group.all_gather({}, view(x), view(y));
    group.wait({});
  });
  for (int rank : {0, 1, 2}) EXPECT_EQ(said[size_t(rank)].rfind("COLLECTIVE ", 0), size_t(0));
  const std::string one = "rank 1 calls broadcast of f32[12] from rank 2 as collective 7";
  EXPECT_TRUE(has(said[0], "rank 0 calls all_gather of f32[12] as collective 7, " + one));
  EXPECT_TRUE(has(said[1], one + ", rank 0 calls all_gather"));
  EXPECT_TRUE(has(said[2], one));
}

inline void a_rank_that_is_gone_shows_at_the_others_at_once(const Ranks& ranks) {
  const auto start = std::chrono::steady_clock::now();
  const auto said = ranks(3, kPatient * 10, [](dist::Communicator& group, int rank) {
    check_collectives(group, 2);
    if (rank == 2) return;  // its communicator is destroyed without close()
    std::vector<float> x(8, 1.0f);
    group.all_reduce({}, view(x), dist::ReduceOp::kSum);
    EXPECT_THROWS(group.wait({}), Code::kCollective);
    EXPECT_THROWS(group.wait({}), Code::kState);
    EXPECT_THROWS(group.all_reduce({}, view(x), dist::ReduceOp::kSum), Code::kState);
    group.close();
    group.close();
  });
  EXPECT_TRUE(std::chrono::steady_clock::now() - start < kPatient * 10);
  expect_all(said, "ok");
}

inline void a_rank_that_does_not_call_is_given_up_at_the_time_out(const Ranks& ranks) {
  Word given_up;
  const auto said = ranks(2, kHasty, [&](dist::Communicator& group, int rank) {
    if (rank == 1) given_up.await();
    std::vector<float> x(8, 1.0f);
    const auto start = std::chrono::steady_clock::now();
    const std::string end = outcome([&] {
      group.all_reduce({}, view(x), dist::ReduceOp::kSum);
      group.wait({});
    });
    if (rank == 0) EXPECT_TRUE(has(end, "in time") && std::chrono::steady_clock::now() - start >= kHasty);
    if (rank == 0) given_up.say();
    EXPECT_EQ(end.rfind("COLLECTIVE ", 0), size_t(0));
  });
  expect_all(said, "ok");
}

inline void abort_from_another_thread_ends_a_wait_and_shows_at_the_others(const Ranks& ranks) {
  const auto said = ranks(3, kPatient * 10, [](dist::Communicator& group, int rank) {
    std::vector<float> x(8, 1.0f), large(1 << 20);
    check_collectives(group, 2);
    if (rank == 1) std::this_thread::sleep_for(kHasty);
    std::thread other([&] {
      if (rank != 1) return;
      group.abort("a signal came");
      group.abort("twice");
    });
    const std::string end = outcome([&] {
      group.all_reduce({}, view(large), dist::ReduceOp::kSum);
      group.all_reduce({}, view(x), dist::ReduceOp::kSum);
      while (rank == 1) group.wait({});
      group.wait({});
      group.broadcast({}, view(x), 1);
      group.wait({});
    });
    other.join();
    if (rank == 1) EXPECT_TRUE(has(end, "ABORTED ") && has(end, "a signal came"));
    if (rank != 1) EXPECT_EQ(end.rfind("COLLECTIVE ", 0), size_t(0));
    group.close();
  });
  expect_all(said, "ok");
}

inline void an_abort_wakes_a_wait_for_a_rank_that_does_not_call(const Ranks& ranks) {
  Word woken;
  const auto said = ranks(2, kPatient * 10, [&](dist::Communicator& group, int rank) {
    std::vector<float> x(8, 1.0f);
    check_collectives(group, 2);
    // keeps its communicator, since destroying it would also wake the other rank
    if (rank == 1) return woken.await();
    std::thread other([&] {
      std::this_thread::sleep_for(kHasty);
      group.abort("enough");
    });
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THROWS((group.all_reduce({}, view(x), dist::ReduceOp::kSum), group.wait({})), Code::kAborted);
    EXPECT_TRUE(std::chrono::steady_clock::now() - start < kPatient);
    woken.say();
    other.join();
  });
  expect_all(said, "ok");
}

inline void closing_waits_for_all_and_gives_up_on_one_that_does_not(const Ranks& ranks) {
  expect_all(ranks(3, kPatient, [](dist::Communicator& group, int rank) {
    if (rank == 0) std::this_thread::sleep_for(kHasty / 4);
    std::vector<float> x(8, 1.0f);
    group.all_reduce({}, view(x), dist::ReduceOp::kSum);
    group.close();  // waits for the collective to finish
    EXPECT_EQ(x[7], 3.0f);
    group.close();
    EXPECT_THROWS(group.wait({}), Code::kState);
  }), "ok");
  const auto said = ranks(2, kHasty, [](dist::Communicator& group, int rank) {
    if (rank == 1) std::this_thread::sleep_for(kHasty * 2);
    if (rank == 0) group.close();
  });
  EXPECT_EQ(said[0].rfind("COLLECTIVE ", 0), size_t(0));
  EXPECT_EQ(said[1], std::string("ok"));
}

}  // namespace hone::test

/// Defines all conformance tests as tests of a program.
#define CONFORMANCE(ranks)                                                                                          \
  TEST(collectives) { hone::test::collectives_give_what_plain_loops_give(ranks); }                                  \
  TEST(teams) { hone::test::teams_exchange_among_themselves(ranks); }                                               \
  TEST(different_calls_of_a_team) { hone::test::ranks_of_a_team_that_call_differently_are_told(ranks); }            \
  TEST(dtypes) { hone::test::dtypes_arrive_as_they_are_and_add_in_their_own_arithmetic(ranks); }                    \
  TEST(order) { hone::test::sums_are_taken_in_the_order_of_ranks(ranks); }                                          \
  TEST(empty_buffers) { hone::test::empty_buffers_move_nothing_and_nobody_waits_for_them(ranks); }                  \
  TEST(wrong_buffers) { hone::test::buffers_that_do_not_fit_are_refused_and_the_group_goes_on(ranks); }             \
  TEST(different_calls) { hone::test::different_calls_are_told_to_all_and_hang_nobody(ranks); }                     \
  TEST(lost_peer) { hone::test::a_rank_that_is_gone_shows_at_the_others_at_once(ranks); }                           \
  TEST(time_out) { hone::test::a_rank_that_does_not_call_is_given_up_at_the_time_out(ranks); }                      \
  TEST(abort_call) { hone::test::abort_from_another_thread_ends_a_wait_and_shows_at_the_others(ranks); }            \
  TEST(abort_of_a_wait) { hone::test::an_abort_wakes_a_wait_for_a_rank_that_does_not_call(ranks); }                 \
  TEST(close_call) { hone::test::closing_waits_for_all_and_gives_up_on_one_that_does_not(ranks); }
