// Ranks are threads over a stand-in library that moves the data and goes wrong on demand (fake_nccl.h). Results are
// compared with plain loops; after every case nothing is left open and the library was never called out of turn.
// Mutants tried and killed: release() that does not abort, wait() without time-out, wait() that ignores asynchronous
// errors, "in progress" taken for done, all_to_all that sends one part to all, reduce_scatter that counts the whole,
// close() that does not wait for the end, abort() without the lock; in nccl_library.cc, old version codes read as
// new ones and missing symbols overlooked.
#include "dist/communicator.h"

#include <dlfcn.h>

#include <atomic>
#include <functional>
#include <set>
#include <thread>

#include "check.h"
#include "fake_nccl.h"

using namespace hone;
using namespace hone::dist;
using namespace hone::test;
using std::chrono::milliseconds;

namespace {

FakeNccl& fake() {
  static FakeNccl* const instance = [] {
    void* library = dlopen(HONE_FAKE_NCCL, RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<FakeNccl* (*)()>(dlsym(library, "fake_nccl"))();
  }();
  return *instance;
}

constexpr milliseconds kLong{20'000}, kShort{60};

CommunicatorOptions options(milliseconds init = kLong, milliseconds timeout = kLong) {
  return {.init_timeout = init, .timeout = timeout, .idle = [](const Stream& s) { return fake().idle(s.handle); }};
}

/// The handle of a rank's stream is any address of its own.
struct RankStream {
  char place = 0;
  Stream stream{Stream::Backend::kCuda, nullptr, &place};
};

std::string outcome(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(code_name(error.code())) + " " + error.what();
  }
  return "ok";
}

/// Runs `rank` on one thread per rank and returns what each threw ("ok": nothing). Checks that nothing leaks.
using RankBody = std::function<void(Communicator&, const Stream&, int rank)>;
std::vector<std::string> ranks(int size, const Faults& faults, const CommunicatorOptions& limits, const RankBody& body) {
  fake().reset(faults);
  const auto library = NcclLibrary::open(HONE_FAKE_NCCL);
  const NcclUniqueId id = Communicator::make_id(*library);
  std::vector<std::string> said(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      RankStream own;
      said[size_t(rank)] = outcome([&] {
        Communicator group(library, limits);
        group.initialise(id, rank, size);
        body(group, own.stream, rank);
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fake().live(), 0);
  EXPECT_EQ(fake().misuses(), 0);
  return said;
}

void expect_all(const std::vector<std::string>& said, const std::string& wanted) {
  for (const std::string& text : said) EXPECT_EQ(text, wanted);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Values that add up exactly in any order.
std::vector<float> values(int64_t n, int rank) {
  std::vector<float> out(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) out[size_t(i)] = float((i * 7 + rank * 31 + (i ^ rank)) % 97 - 48);
  return out;
}

float reduced(ReduceOp op, int size, int64_t length, int64_t i) {
  float total = values(length, 0)[size_t(i)];
  for (int r = 1; r < size; ++r) {
    const float x = values(length, r)[size_t(i)];
    total = op == ReduceOp::kSum ? total + x : std::max(total, x);
  }
  return total;
}

TensorView view(std::vector<float>& v) { return f32(v.data(), {int64_t(v.size())}); }

}  // namespace

TEST(every_collective_gives_what_plain_loops_give) {
  for (int size : {1, 2, 3, 4}) {
    for (int polls : {0, 3}) {
      const Faults slow{.init_polls = polls, .enqueue_polls = polls, .finalize_polls = polls};
      expect_all(ranks(size, slow, options(), [&](Communicator& group, const Stream& stream, int rank) {
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

TEST(other_dtypes_arrive_as_they_are_and_add_in_their_own_arithmetic) {
  expect_all(ranks(3, {}, options(), [](Communicator& group, const Stream& stream, int rank) {
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
  expect_all(ranks(2, {}, options(kLong, kShort), [](Communicator& group, const Stream& stream, int rank) {
    std::vector<float> none;
    if (rank == 0) group.all_reduce(stream, view(none), ReduceOp::kSum);
    group.wait(stream);
    group.close();
  }), "ok");
}

TEST(buffers_that_do_not_fit_are_refused_and_the_group_stays_ready) {
  expect_all(ranks(2, {}, options(), [](Communicator& group, const Stream& stream, int) {
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

/// What every call says in one state.
std::set<std::string> answers(Communicator& group) {
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
  const NcclUniqueId id = Communicator::make_id(*library);
  Communicator fresh(library, options());
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

  Communicator aborted(library, options());
  aborted.abort("the run ends");
  aborted.abort("again");
  EXPECT_TRUE(aborted.state() == State::kAborted);
  for (const std::string& said : answers(aborted)) {
    EXPECT_TRUE(has(said, "ABORTED: the communicator is aborted, not ") && has(said, ": the run ends"));
  }
  aborted.close();
  EXPECT_TRUE(aborted.state() == State::kClosed);

  fake().reset({.init_fails = 0});
  Communicator failed(library, options());
  EXPECT_THROWS(failed.initialise(Communicator::make_id(*library), 0, 1), Code::kCollective);
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

TEST(a_rank_that_never_comes_is_given_up_at_the_time_out_and_everything_is_released) {
  fake().reset({});
  const auto library = NcclLibrary::open(HONE_FAKE_NCCL);
  Communicator alone(library, options(kShort));
  const auto start = std::chrono::steady_clock::now();
  const std::string said = outcome([&] { alone.initialise(Communicator::make_id(*library), 0, 2); });
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
  expect_all(ranks(2, {.init_polls = 9}, options(), [](Communicator& group, const Stream&, int) { group.close(); }), "ok");
  EXPECT_TRUE(fake().polls() >= 2 * 10);
}

TEST(a_rank_that_does_not_call_is_given_up_at_the_time_out) {
  std::atomic<int> failed{0};
  const auto said = ranks(2, {.peers_notice = false}, options(kLong, kShort), [&](auto& group, const Stream& stream, int rank) {
    std::vector<float> x(8, 1.0f);
    if (rank == 1) {
      while (failed == 0) std::this_thread::yield();
      return;  // without having called
    }
    group.all_reduce(stream, view(x), ReduceOp::kSum);
    const std::string end = outcome([&] { group.wait(stream); });
    EXPECT_TRUE(group.state() == State::kFailed);
    failed = 1;
    fail(Code::kCollective, "%s", end.c_str());
  });
  EXPECT_TRUE(has(said[0], "COLLECTIVE wait: rank 0 of 2: no end within 60 ms"));
  EXPECT_EQ(said[1], std::string("ok"));
  EXPECT_EQ(fake().aborts(), 2);  // the one that failed, and the other when it was destroyed
}

TEST(a_rank_that_is_gone_shows_at_the_others_as_a_remote_error) {
  const auto said = ranks(3, {}, options(), [](Communicator& group, const Stream& stream, int rank) {
    std::vector<float> x(8, 1.0f);
    if (rank == 2) return;  // destroyed, so aborted
    group.all_reduce(stream, view(x), ReduceOp::kSum);
    group.wait(stream);
  });
  for (int rank : {0, 1}) {
    EXPECT_TRUE(has(said[size_t(rank)], "COLLECTIVE ") &&
                has(said[size_t(rank)], "NCCL says: remote process exited (last words)"));
  }
  EXPECT_EQ(said[2], std::string("ok"));
}

TEST(an_error_reported_later_ends_the_next_wait_and_then_every_call) {
  const auto said = ranks(2, {.breaks = 0, .breaks_at = 1}, options(), [](Communicator& group, const Stream& stream, int rank) {
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
  const auto said = ranks(2, {.refused = 1, .refused_at = 0}, options(), [](Communicator& group, const Stream& stream, int) {
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
    Communicator group(library, options());
    std::thread other([&] {
      while (fake().polls() < 3) std::this_thread::yield();
      group.abort("a signal came");
      group.abort("twice");
    });
    std::vector<float> x(4);
    const std::string said = outcome([&] {
      group.initialise(Communicator::make_id(*library), 0, during_init ? 2 : 1);
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
  Communicator* first = nullptr;
  std::thread other;
  const auto said = ranks(2, {.peers_notice = false}, options(), [&](Communicator& group, const Stream& stream, int rank) {
    if (rank == 1) {
      while (waiting < 2) std::this_thread::yield();
      return;
    }
    first = &group;
    std::vector<float> x(1 << 12, 1.0f);  // freed on the way out: the library must not touch it any more
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
  const auto said = ranks(1, {}, broken, [](Communicator& group, const Stream& stream, int) {
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
    const auto said = ranks(size, faults, options(), [&](Communicator& group, const Stream& stream, int rank) {
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
    for (const std::string& text : said) {  // who was still joining when somebody left says so
      EXPECT_TRUE(text == "ok" || (kind != 0 && has(text, "COLLECTIVE initialise: ")));
    }
  }
}

TEST_MAIN
