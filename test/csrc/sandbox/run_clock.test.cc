// RunClock: tests pass in times; the kernel only reports how long this process waited for a processor. Faults
// put into the code: a run called too slow before its limit; starved_times ignored; spent() always 0.
#include "sandbox/run_clock.h"

#include <unistd.h>

#include <ctime>
#include <limits>

#include "check.h"

namespace sandbox_run_clock_test {

using namespace hone::sandbox;
using namespace hone::test;

namespace {

constexpr pid_t kNone = 0;  // /proc has no such process, so its waiting time is 0

}  // namespace

TEST(a_run_is_slow_when_it_has_spent_its_limit) {
  RunClock clock(kNone, 100, 2);
  EXPECT_EQ(clock.due(), 102.0);
  EXPECT_TRUE(clock.look(101.9, 0) == Time::kLeft);
  EXPECT_EQ(clock.due(), 102.0);
  EXPECT_TRUE(clock.look(102, 4) == Time::kSpent);
  EXPECT_EQ(clock.due(), 103.0);
}

TEST(what_passes_is_spent_unless_it_waited) {
  EXPECT_EQ(RunClock(kNone, 100, 2).spent(101.5), 1.5);
  EXPECT_EQ(RunClock(getpid(), 100, 2).spent(100.0625), 0.0625);
  // More wall time has passed than this process can have waited for a processor.
  const double spent = RunClock(getpid(), 0, 2).spent(1e6);
  EXPECT_TRUE(spent > 9e5 && spent <= 1e6);
}

TEST(a_while_in_which_all_stood_still_is_not_its_own) {
  RunClock clock(kNone, 100, 2);
  clock.stand_still(5, 106);
  EXPECT_EQ(clock.due(), 107.0);
  EXPECT_EQ(clock.spent(106.5), 1.5);
  EXPECT_TRUE(clock.look(107, 4) == Time::kSpent);
}

TEST(what_stood_still_before_it_began_is_not_given_to_it) {
  RunClock clock(kNone, 100, 2);
  clock.stand_still(5, 101);
  EXPECT_EQ(clock.spent(101), 0.0);
  EXPECT_EQ(clock.due(), 103.0);
}

TEST(a_look_that_comes_late_tells_by_how_much) {
  Standstill standstill(100);
  EXPECT_EQ(standstill.look(100.125, 0.125), 0.0);
  EXPECT_EQ(standstill.look(100.25, 0.5), 0.0);  // it woke before its 0.5 s were over, so nothing stood still
  EXPECT_EQ(standstill.look(103.375, 0.125), 3.0);
  EXPECT_EQ(standstill.look(200, std::numeric_limits<double>::infinity()), 0.0);
  EXPECT_EQ(standstill.look(200.125, 0.125), 0.0);
}

TEST(who_waited_has_more_time_and_in_the_end_is_lost_not_slow) {
  RunClock patient(getpid(), 0, 1e6), impatient(getpid(), 0, 1e6);
  const Time end = impatient.look(1e6, 1);
  EXPECT_TRUE(end != Time::kLeft);
  if (patient.spent(1e6) == 1e6) SKIP("this process never waited for a processor");
  EXPECT_TRUE(end == Time::kStarved);
  EXPECT_TRUE(patient.look(1e6, 4) == Time::kLeft);
  EXPECT_TRUE(patient.due() > 1e6 && patient.due() < 1.1e6);
}

TEST(who_is_ready_is_slow_once_it_has_run_since_the_look_before) {
  RunClock clock(getpid(), 0, 2);
  EXPECT_TRUE(clock.look(1e6, 1000000) == Time::kLeft);  // it may continue to wait
  EXPECT_TRUE(clock.due() > 1e6 && clock.due() < 1e6 + 0.1);
  const std::clock_t begin = std::clock();
  while (std::clock() - begin < CLOCKS_PER_SEC / 20) {}
  EXPECT_TRUE(clock.look(1e6 + 1, 1000000) == Time::kSpent);
}

}  // namespace sandbox_run_clock_test
