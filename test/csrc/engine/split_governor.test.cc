// SplitGovernor: when steps are split over threads. Faults put into the code, each detected: the balance not
// limited (a long good time pays for any number of bad steps); the pause not doubled; the first step's time
// kept; windows that may lose; a pause never shortened again; steps counted that wake the helper threads.
#include "engine/split_governor.h"

#include "check.h"

namespace engine_split_governor_test {

using hone::engine::SplitGovernor;

namespace {

/// Runs n steps of 64 rows on a machine where a row costs 1 unsplit and `split_cost` split. Returns the time
/// spent.
double run(SplitGovernor& governor, int n, double split_cost, int* split_steps = nullptr) {
  double total = 0;
  for (int i = 0; i < n; ++i) {
    const bool split = governor.split();
    const double seconds = 64 * (split ? split_cost : 1.0);
    governor.record(split, 64, seconds);
    total += seconds;
    if (split_steps) *split_steps += split;
  }
  return total;
}

}  // namespace

TEST(splits_as_long_as_that_gains) {
  SplitGovernor governor;
  int split = 0;
  run(governor, 10000, 0.55, &split);
  EXPECT_TRUE(split > 9800);
}

TEST(the_price_of_one_thread_is_learnt_first_and_a_slow_start_is_not_believed) {
  SplitGovernor governor;
  for (const double seconds : {640.0, 64.0, 64.0, 64.0}) {
    EXPECT_TRUE(!governor.split());
    governor.record(false, 64, seconds);
  }
  EXPECT_TRUE(governor.split());
  int split = 0;
  run(governor, 200, 1.5, &split);
  EXPECT_TRUE(split < 36);  // five attempts of seven steps
}

TEST(a_core_that_is_never_free_costs_a_few_percent_at_most) {
  for (const double stall : {1.2, 2.0, 10.0, 50.0}) {
    SplitGovernor governor;
    const double spent = run(governor, 200000, stall);
    EXPECT_TRUE(spent < 1.02 * 64 * 200000);
  }
}

TEST(a_long_good_time_does_not_pay_for_a_bad_one) {
  SplitGovernor governor;
  run(governor, 100000, 0.5);
  int split = 0;
  run(governor, 40, 4.0, &split);
  EXPECT_TRUE(split <= 6);  // three at first, and three when it tries again
}

TEST(the_other_core_is_used_again_when_it_comes_free) {
  SplitGovernor governor;
  run(governor, 20000, 10.0);
  int split = 0;
  run(governor, 20000, 0.55, &split);
  EXPECT_TRUE(split > 10000);
}

TEST(a_core_that_comes_for_moments_does_not_pay_for_the_time_it_is_gone) {
  SplitGovernor governor;
  double spent = 0;
  // 1.055 on average
  for (int i = 0; i < 2000; ++i) spent += run(governor, 8, 0.5) + run(governor, 24, 1.24);
  EXPECT_TRUE(spent < 1.01 * 64 * 32 * 2000);
}

TEST(a_step_that_has_to_wake_the_helpers_does_not_count) {
  SplitGovernor governor;
  int split = 0;
  bool asleep = true;
  for (int i = 0; i < 1000; ++i) {
    const bool shared = governor.split();
    governor.record(shared, 64, 64 * (!shared ? 1.0 : asleep ? 6.0 : 0.6));
    asleep = !shared;
    split += shared;
  }
  EXPECT_TRUE(split > 980);
}

TEST(a_small_loss_ends_with_the_window) {
  SplitGovernor governor;
  int split = 0;
  run(governor, 4 + 33 + 16, 1.02, &split);  // the first split step is not counted
  EXPECT_EQ(split, 33);
}

TEST(a_rare_stall_is_soon_forgotten) {
  SplitGovernor governor;
  int split = 0;
  run(governor, 200, 0.5);
  for (int i = 0; i < 50; ++i) {
    run(governor, 1, 20.0);
    run(governor, 200, 0.5, &split);
  }
  EXPECT_TRUE(split > 50 * 180);
}

}  // namespace engine_split_governor_test
