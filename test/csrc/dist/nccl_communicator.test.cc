// NcclCommunicator: results of collectives compared with plain loops, and which calls each state allows.
// nccl_group.test.cc tests faults.
#include "dist/nccl_communicator.h"

#include <set>

#include "ranks.h"

namespace dist_nccl_communicator_test {

using namespace hone;
using namespace hone::test;

namespace {

float reduced(ReduceOp op, int size, int64_t length, int64_t i) {
  float total = values(length, 0)[size_t(i)];
  for (int r = 1; r < size; ++r) {
    const float x = values(length, r)[size_t(i)];
    total = op == ReduceOp::kSum ? total + x : std::max(total, x);
  }
  return total;
}
}  // namespace

TEST(every_collective_gives_what_plain_loops_give) {
  for (int size : {1, 2, 3, 4}) {
    for (int polls : {0, 3}) {
      const Faults slow{.init_polls = polls, .enqueue_polls = polls, .finalize_polls = polls};
      expect_all(ranks(size, slow, options(), [&](NcclCommunicator& group, const Stream& stream, int rank) {
        EXPECT_EQ(group.rank(), rank);
        EXPECT_EQ(group.size(), size);
        for (int64_t n : {1, 5, 64}) {
          std::vector<float> sum = values(n, rank), most = sum, sent = sum, all = poison(n * size), part = poison(n);
          std::vector<float> wide = values(n * size, rank), swapped = poison(n * size);
          const int root = int(n) % size;
          group.all_reduce(stream, view(sum), ReduceOp::kSum);
          group.all_reduce(stream, view(most), ReduceOp::kMax);
          group.broadcast(stream, view(sent), root);
          group.all_gather(stream, view(part = values(n, rank)), view(all));
          group.wait(stream);
          std::fill(part.begin(), part.end(), std::nanf(""));
          group.reduce_scatter(stream, view(wide), view(part), ReduceOp::kSum);
          group.all_to_all(stream, view(wide), view(swapped));
          group.wait(stream);
          for (int64_t i = 0; i < n; ++i) {
            EXPECT_EQ(sum[size_t(i)], reduced(ReduceOp::kSum, size, n, i));
            EXPECT_EQ(most[size_t(i)], reduced(ReduceOp::kMax, size, n, i));
            EXPECT_EQ(sent[size_t(i)], values(n, root)[size_t(i)]);
            EXPECT_EQ(part[size_t(i)], reduced(ReduceOp::kSum, size, n * size, rank * n + i));
            for (int from = 0; from < size; ++from) {
              EXPECT_EQ(all[size_t(from * n + i)], values(n, from)[size_t(i)]);
              EXPECT_EQ(swapped[size_t(from * n + i)], values(n * size, from)[size_t(rank * n + i)]);
            }
          }
        }
        group.close();
      }), "ok");
      EXPECT_EQ(fake().aborts(), 0);
    }
  }
}

TEST(teams_exchange_among_themselves) {
  expect_all(ranks(4, {}, options(), [](NcclCommunicator& group, const Stream& stream, int rank) {
    std::vector<float> wide = values(6, rank), swapped = poison(6);
    EXPECT_THROWS(group.team_all_to_all(stream, view(wide), view(swapped), 3), Code::kShape);
    group.team_all_to_all(stream, view(wide), view(swapped), 2);
    group.wait(stream);
    const int first = rank / 2 * 2;
    for (int from : {0, 1}) {
      for (int64_t i = 0; i < 3; ++i) {
        EXPECT_EQ(swapped[size_t(from * 3 + i)], values(6, first + from)[size_t((rank - first) * 3 + i)]);
      }
    }
    group.close();
  }), "ok");
}

TEST(other_dtypes_arrive_as_they_are_and_add_in_their_own_arithmetic) {
  expect_all(ranks(3, {}, options(), [](NcclCommunicator& group, const Stream& stream, int rank) {
    std::vector<uint16_t> halves{f32_to_bf16(1.5f), f32_to_bf16(float(rank))};
    std::vector<int64_t> wide{int64_t(rank) << 40, -1};
    std::vector<int32_t> ints{rank, rank * rank, 7};
    std::vector<uint8_t> flags{uint8_t(rank == 1), 0};
    std::vector<double> doubles{0.25 * rank};
    std::vector<uint32_t> versions{uint32_t(rank) + 4'000'000'000u};
    group.all_reduce(stream, {halves.data(), DType::kBF16, {2}}, ReduceOp::kSum);
    group.all_reduce(stream, {wide.data(), DType::kI64, {2}}, ReduceOp::kSum);
    group.all_reduce(stream, {ints.data(), DType::kI32, {3}}, ReduceOp::kMax);
    group.all_reduce(stream, {flags.data(), DType::kU8, {2}}, ReduceOp::kMax);
    group.all_reduce(stream, {doubles.data(), DType::kF64, {1}}, ReduceOp::kSum);
    group.broadcast(stream, {versions.data(), DType::kU32, {1}}, 2);
    group.wait(stream);
    EXPECT_EQ(bf16_to_f32(halves[0]), 4.5f);
    EXPECT_EQ(bf16_to_f32(halves[1]), 3.0f);
    EXPECT_EQ(wide[0], int64_t(3) << 40);
    EXPECT_EQ(wide[1], int64_t(-3));
    EXPECT_EQ(ints[0] * 100 + ints[1] * 10 + ints[2], 247);
    EXPECT_EQ(flags[0] * 10 + flags[1], 10);
    EXPECT_EQ(doubles[0], 0.75);
    EXPECT_EQ(versions[0], 4'000'000'002u);
    group.close();
  }), "ok");
}

TEST(empty_buffers_move_nothing_and_nobody_waits_for_them) {
  expect_all(ranks(2, {}, options(kLong, kShort), [](NcclCommunicator& group, const Stream& stream, int rank) {
    std::vector<float> none;
    if (rank == 0) group.all_reduce(stream, view(none), ReduceOp::kSum);
    group.wait(stream);
    group.close();
  }), "ok");
}

TEST(buffers_that_do_not_fit_are_refused_and_the_group_stays_ready) {
  expect_all(ranks(2, {}, options(), [](NcclCommunicator& group, const Stream& stream, int) {
    std::vector<float> a(6), b(4), c(5);
    std::vector<int32_t> ints(3);
    TensorView strided(a.data(), DType::kF32, {3, 2});
    strided.row_stride = 3;
    const TensorView nothing(nullptr, DType::kF32, {4});
    const TensorView integers = i32(ints.data(), {3});
    EXPECT_THROWS(group.reduce_scatter(stream, view(a), view(b), ReduceOp::kSum), Code::kShape);
    EXPECT_THROWS(group.reduce_scatter(stream, view(a), integers, ReduceOp::kSum), Code::kShape);
    EXPECT_THROWS(group.all_gather(stream, view(a), view(b)), Code::kShape);
    EXPECT_THROWS(group.all_to_all(stream, view(a), view(b)), Code::kShape);
    EXPECT_THROWS(group.all_to_all(stream, view(c), view(c)), Code::kShape);
    EXPECT_THROWS(group.all_reduce(stream, strided, ReduceOp::kSum), Code::kShape);
    EXPECT_THROWS(group.all_reduce(stream, nothing, ReduceOp::kSum), Code::kShape);
    EXPECT_THROWS(group.broadcast(stream, view(a), 2), Code::kShape);
    EXPECT_THROWS(group.broadcast(stream, view(a), -1), Code::kShape);
    EXPECT_TRUE(group.state() == State::kReady);
    group.close();
  }), "ok");
}

namespace {

/// The error codes that each call throws in the communicator's current state.
std::set<std::string> answers(NcclCommunicator& group) {
  std::vector<float> x(2), y(4);
  const Stream stream;
  std::set<std::string> codes;
  for (const std::function<void()>& call : std::vector<std::function<void()>>{
           [&] { group.initialise({}, 0, 1); },
           [&] { group.broadcast(stream, view(x), 0); },
           [&] { group.all_reduce(stream, view(x), ReduceOp::kSum); },
           [&] { group.reduce_scatter(stream, view(y), view(x), ReduceOp::kSum); },
           [&] { group.all_gather(stream, view(x), view(y)); },
           [&] { group.all_to_all(stream, view(x), view(x)); },
           [&] { group.team_all_to_all(stream, view(x), view(x), 1); },
           [&] { group.wait(stream); }}) {
    const std::string said = outcome(call);
    codes.insert(said.substr(0, said.find(' ')) + said.substr(said.find(": ")));
  }
  return codes;
}

}  // namespace

TEST(a_call_in_a_wrong_state_says_which_state_it_is_and_why) {
  fake().reset({});
  const auto library = NcclLibrary::open(HONE_FAKE_NCCL);
  const NcclUniqueId id = NcclCommunicator::make_id(*library);
  NcclCommunicator fresh(library, options());
  EXPECT_TRUE(fresh.state() == State::kUninitialised);
  EXPECT_THROWS(fresh.wait({}), Code::kState);
  EXPECT_THROWS(fresh.initialise(id, 2, 2), Code::kShape);
  EXPECT_THROWS(fresh.initialise(id, -1, 2), Code::kShape);
  EXPECT_THROWS(fresh.initialise(id, 0, 0), Code::kShape);
  EXPECT_TRUE(fresh.state() == State::kUninitialised);

  fresh.initialise(id, 0, 1);
  EXPECT_TRUE(fresh.state() == State::kReady);
  EXPECT_THROWS(fresh.initialise(id, 0, 1), Code::kState);
  EXPECT_TRUE(fresh.state() == State::kReady);
  fresh.close();
  fresh.close();
  fresh.abort("too late");
  EXPECT_TRUE(fresh.state() == State::kClosed);
  for (const std::string& said : answers(fresh)) EXPECT_TRUE(has(said, "STATE: the communicator is closed, not "));

  NcclCommunicator aborted(library, options());
  aborted.abort("the run ends");
  aborted.abort("again");
  EXPECT_TRUE(aborted.state() == State::kAborted);
  for (const std::string& said : answers(aborted)) {
    EXPECT_TRUE(has(said, "ABORTED: the communicator is aborted, not ") && has(said, ": the run ends"));
  }
  aborted.close();
  EXPECT_TRUE(aborted.state() == State::kClosed);

  fake().reset({.init_fails = 0});
  NcclCommunicator failed(library, options());
  EXPECT_THROWS(failed.initialise(NcclCommunicator::make_id(*library), 0, 1), Code::kCollective);
  EXPECT_TRUE(failed.state() == State::kFailed);
  failed.abort("no effect");
  EXPECT_TRUE(failed.state() == State::kFailed);
  for (const std::string& said : answers(failed)) {
    EXPECT_TRUE(has(said, "STATE: the communicator is failed, not ") && has(said, ": initialise: NCCL says: system error"));
  }
  failed.close();
  EXPECT_TRUE(failed.state() == State::kClosed);
  EXPECT_EQ(fake().live() + fake().misuses(), 0);
}

}  // namespace dist_nccl_communicator_test
