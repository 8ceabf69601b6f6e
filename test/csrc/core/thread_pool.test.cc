// ThreadPool runs every chunk exactly once, on any thread: with helper threads, several callers, nested calls
// and exceptions.
//
// Faults put into the code: a throwing chunk that leaves the unclaimed ones uncounted (an_exception hangs);
// no join (the_caller_waits hangs); an occupied core not counted (an_occupied_core).
#include "core/thread_pool.h"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>

#include "check.h"

namespace core_thread_pool_test {

using namespace hone;
using namespace hone::test;

namespace {

/// Counts visits per index in a plain int, so that the thread sanitizer detects two threads on one chunk.
bool visits_each_once(ThreadPool& pool, int64_t n, int64_t grain) {
  std::vector<int> visits(size_t(n), 0);
  pool.parallel_for(n, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++visits[size_t(i)];
  });
  for (int count : visits) {
    if (count != 1) return false;
  }
  return true;
}

struct Boom : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace

TEST(every_index_is_visited_once) {
  for (int threads : {1, 2, 3, 7}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int repeat = 0; repeat < 300; ++repeat) {
      const int64_t n = random_int(0, 500), grain = random_int(1, 40);
      EXPECT_TRUE(visits_each_once(pool, n, grain));
    }
  }
}

TEST(chunks_start_at_multiples_of_the_grain_for_any_number_of_threads) {
  for (int threads : {1, 3}) {
    ThreadPool pool(threads);
    std::atomic<int> wrong{0};
    pool.parallel_for(103, 10, [&](int64_t begin, int64_t end) {
      if (begin % 10 != 0 || end != std::min<int64_t>(begin + 10, 103)) ++wrong;
    });
    EXPECT_EQ(wrong.load(), 0);
  }
}

TEST(a_grain_below_one_is_one) {
  ThreadPool pool(2);
  EXPECT_TRUE(visits_each_once(pool, 10, 0));
  EXPECT_TRUE(visits_each_once(pool, 10, -5));
}

TEST(helpers_take_part) {
  ThreadPool pool(2);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> helped{false};
  // Two chunks that wait for each other end only if another thread takes one of them.
  pool.parallel_for(2, 1, [&](int64_t, int64_t) {
    if (std::this_thread::get_id() != caller) helped = true;
    while (!helped) std::this_thread::yield();
  });
  EXPECT_TRUE(helped.load());
}

TEST(the_caller_waits_for_a_chunk_that_a_helper_runs) {
  ThreadPool pool(2);
  const std::thread::id caller = std::this_thread::get_id();
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::atomic<bool> helper_inside{false}, caller_ended{false}, helper_ended{false};
    pool.parallel_for(2, 1, [&](int64_t, int64_t) {
      if (std::this_thread::get_id() == caller) {
        while (!helper_inside) std::this_thread::yield();
        caller_ended = true;
        return;
      }
      helper_inside = true;
      while (!caller_ended) std::this_thread::yield();
      // gives a caller that does not wait time to return
      for (int i = 0; i < 100; ++i) std::this_thread::yield();
      helper_ended = true;
    });
    EXPECT_TRUE(helper_ended.load());
  }
}

TEST(concurrent_callers_share_one_pool) {
  ThreadPool pool(3);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&pool, &wrong, c] {
      for (int repeat = 0; repeat < 400; ++repeat) {
        if (!visits_each_once(pool, 1 + (repeat * 37 + c) % 97, 1 + repeat % 5)) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(more_callers_than_slots_run_inline) {
  ThreadPool pool(2);
  std::atomic<int> wrong{0}, inside{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 24; ++c) {
    callers.emplace_back([&] {
      // All 24 threads are inside a call at the same time, so that eight of them found no free slot.
      std::atomic<bool> counted{false};
      pool.parallel_for(2, 1, [&](int64_t, int64_t) {
        if (!counted.exchange(true)) ++inside;
        while (inside.load() < 24) std::this_thread::yield();
      });
      if (!visits_each_once(pool, 50, 3)) ++wrong;
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(a_nested_call_runs_inside_its_chunk) {
  ThreadPool pool(3);
  std::vector<int> visits(60 * 50, 0);
  pool.parallel_for(60, 1, [&](int64_t i, int64_t) {
    const std::thread::id outer = std::this_thread::get_id();
    pool.parallel_for(50, 7, [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j) visits[size_t(i * 50 + j)] += outer == std::this_thread::get_id();
    });
  });
  for (int count : visits) EXPECT_EQ(count, 1);
}

TEST(an_exception_reaches_the_caller_and_the_pool_lives_on) {
  for (int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    for (int repeat = 0; repeat < 200; ++repeat) {
      const int64_t bad = random_int(0, 49);
      std::string message;
      try {
        pool.parallel_for(50, 1, [&](int64_t i, int64_t) {
          if (i == bad) throw Boom("chunk " + std::to_string(i));
        });
      } catch (const Boom& e) {
        message = e.what();
      }
      EXPECT_EQ(message, "chunk " + std::to_string(bad));
      EXPECT_TRUE(visits_each_once(pool, 40, 3));
    }
  }
}

TEST(when_every_chunk_throws_one_exception_arrives) {
  ThreadPool pool(4);
  for (int repeat = 0; repeat < 200; ++repeat) {
    int caught = 0;
    try {
      pool.parallel_for(64, 1, [](int64_t, int64_t) { throw Boom("all"); });
    } catch (const Boom&) {
      ++caught;
    }
    EXPECT_EQ(caught, 1);
  }
}

TEST(a_pool_can_be_destroyed_at_once_idle_or_after_work) {
  for (int repeat = 0; repeat < 100; ++repeat) {
    ThreadPool pool(1 + repeat % 4);
    if (repeat % 3) EXPECT_TRUE(visits_each_once(pool, 20, 1));
  }
}

TEST(an_occupied_core_keeps_helpers_away_from_it) {
  ThreadPool pool(2);
  std::atomic<bool> stop{false}, ready{false};
  // The pool has two threads for two cores; the other caller declares that it occupies one.
  std::thread other([&] {
    const ThreadPool::Occupied busy(&pool);
    const ThreadPool::Occupied again(&pool), nothing(nullptr);
    ready = true;
    while (!stop) std::this_thread::yield();
  });
  while (!ready) std::this_thread::yield();
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> elsewhere{0};
  for (int repeat = 0; repeat < 20; ++repeat) {
    pool.parallel_for(8, 1, [&](int64_t, int64_t) {
      // gives a helper thread, which should not take a chunk, time to do so
      for (int i = 0; i < 50; ++i) std::this_thread::yield();
      elsewhere += std::this_thread::get_id() != caller;
    });
  }
  EXPECT_EQ(elsewhere.load(), 0);
  stop = true;
  other.join();
  std::atomic<bool> helped{false};
  pool.parallel_for(2, 1, [&](int64_t, int64_t) {
    if (std::this_thread::get_id() != caller) helped = true;
    while (!helped) std::this_thread::yield();
  });
  EXPECT_TRUE(helped.load());
}

TEST(the_number_of_threads_is_checked) {
  EXPECT_THROWS(ThreadPool(0), Code::kConfig);
  EXPECT_THROWS(ThreadPool(-3), Code::kConfig);
  setenv("HONE_THREADS", "3", 1);
  EXPECT_EQ(default_threads(), 3);
  for (const char* bad : {"0", "257", "two", "2x"}) {
    setenv("HONE_THREADS", bad, 1);
    EXPECT_THROWS(default_threads(), Code::kConfig);
  }
  unsetenv("HONE_THREADS");
  EXPECT_TRUE(default_threads() >= 1);
}

}  // namespace core_thread_pool_test
