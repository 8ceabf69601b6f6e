#include "core/stopwatch.h"

#include <thread>

#include "check.h"

namespace core_stopwatch_test {

TEST(a_stopwatch_adds_what_its_scope_took_when_that_ends) {
  double total = 5.0;
  {
    const hone::Stopwatch watch(total);
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    EXPECT_EQ(total, 5.0);
  }
  EXPECT_TRUE(total >= 5.003 && total < 65.0);
}

}  // namespace core_stopwatch_test
