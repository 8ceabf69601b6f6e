// even_grain: chunks are at least as large as requested, equal in size, and equally many for every thread.
#include "core/even_grain.h"

#include "check.h"

namespace core_even_grain_test {

using namespace hone;
using namespace hone::test;

namespace {

int64_t chunks_of(const Stream& stream, int64_t n, int64_t grain) {
  const int64_t even = even_grain(stream, n, grain);
  return (n + even - 1) / even;
}

}  // namespace

TEST(threads_share_equal_chunks) {
  ThreadPool pool(2);
  const Stream two{.pool = &pool};
  EXPECT_EQ(even_grain(two, 1024, 341), 512);  // three chunks would take as long as four of 341
  EXPECT_EQ(even_grain(two, 980, 217), 245);   // chunks of 217 would be 4.5
  EXPECT_EQ(even_grain(two, 6, 2), 3);
  EXPECT_EQ(even_grain(two, 9, 2), 5);         // four chunks of whole units would be three of 3
  EXPECT_EQ(even_grain(two, 1000, 1), 1);
}

TEST(chunks_are_as_large_as_asked_for_and_no_thread_has_more_of_few_than_another) {
  for (int threads : {1, 2, 3, 7}) {
    ThreadPool pool(threads);
    const Stream stream{.pool = &pool};
    for (int64_t n = 1; n < 400; ++n) {
      for (int64_t grain = 1; grain < n; grain += 1 + grain / 5) {
        const int64_t even = even_grain(stream, n, grain), chunks = chunks_of(stream, n, grain);
        EXPECT_TRUE(even >= grain);
        EXPECT_TRUE(chunks <= threads || chunks % threads == 0 || (even == grain && chunks >= 8 * threads));
        if (n / grain >= threads) EXPECT_TRUE(even <= (n + threads - 1) / threads);
      }
    }
  }
}

TEST(what_is_less_than_two_chunks_is_one) {
  ThreadPool pool(2);
  EXPECT_EQ(even_grain({.pool = &pool}, 100, 100), 100);
  EXPECT_EQ(even_grain({.pool = &pool}, 199, 100), 199);
  EXPECT_EQ(even_grain({}, 1000, 600), 1000);
}

TEST(no_work_and_no_grain_are_allowed) {
  EXPECT_EQ(even_grain({}, 0, 5), 0);
  EXPECT_EQ(even_grain({}, 5, 0), 1);
  EXPECT_EQ(even_grain({}, 5, -3), 1);
}

}  // namespace core_even_grain_test
