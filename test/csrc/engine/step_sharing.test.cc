// StepSharing: how a step is divided among threads (by rows, or in ops) on machines where the ways have
// different costs. Faults put into the code, each detected: rows recorded as ops; ops learning from steps
// divided by rows; ops tried first; a way never tried; every layer counted as fitting the cache; the number
// of threads ignored.
#include "engine/step_sharing.h"

#include "check.h"

namespace engine_step_sharing_test {

using namespace hone::engine;

namespace {

/// Seconds per row for each way of dividing a step.
struct Prices {
  double alone, rows, ops;
};

struct Counts {
  int steps[3] = {0, 0, 0};
  int of(Sharing s) const { return steps[int(s)]; }
};

Counts run(StepSharing& sharing, const SharingWays& ways, const Prices& prices, int steps, double cost = 32) {
  Counts counts;
  for (int i = 0; i < steps; ++i) {
    const Sharing chosen = sharing.choose(ways, cost);
    const double price = chosen == Sharing::kRows ? prices.rows : chosen == Sharing::kOps ? prices.ops : prices.alone;
    sharing.record(ways, chosen, cost, cost * price);
    ++counts.steps[int(chosen)];
  }
  return counts;
}

constexpr SharingWays kBoth{true, true}, kRowsOnly{true, false}, kOpsOnly{false, true}, kNone{false, false};

}  // namespace

TEST(rows_are_shared_while_a_layer_fits_the_cache_and_each_thread_has_enough) {
  constexpr int64_t kMB = 1 << 20;
  const WeightBytes small{20 * kMB, 2 * kMB}, middle{60 * kMB, 8 * kMB}, large{600 * kMB, 50 * kMB};
  for (const int64_t rows : {1, 4, 8, 16, 32, 500}) {
    for (const int32_t threads : {2, 8}) {
      EXPECT_TRUE(sharing_ways(small, rows, threads).rows && !sharing_ways(small, rows, threads).ops);
      EXPECT_TRUE(!sharing_ways(large, rows, threads).rows && sharing_ways(large, rows, threads).ops);
      EXPECT_EQ(sharing_ways(middle, rows, threads).rows, rows >= 4 * threads);
      EXPECT_TRUE(sharing_ways(middle, rows, threads).ops);
    }
    for (const WeightBytes& weights : {small, middle, large}) {  // with one thread there is nothing to divide
      EXPECT_TRUE(!sharing_ways(weights, rows, 1).rows && !sharing_ways(weights, rows, 1).ops);
    }
  }
}

TEST(a_row_costs_its_weights_and_more_the_more_keys_it_reads) {
  const RowCost row{0.9e6, 4096};  // about a width of 128: a row takes four times as long at 250 keys as at 8
  EXPECT_EQ(row.of(0), 1.8e6);
  EXPECT_TRUE(row.of(250) > 4 * row.of(8) * 0.75 && row.of(250) < 4 * row.of(8) * 1.25);
}

TEST(the_cheapest_way_takes_nearly_all_steps) {
  StepSharing free, busy, held;
  EXPECT_TRUE(run(free, kBoth, {1.0, 0.55, 0.7}, 10000).of(Sharing::kRows) > 9500);
  EXPECT_TRUE(run(busy, kBoth, {1.0, 1.3, 0.8}, 10000).of(Sharing::kOps) > 9500);
  EXPECT_TRUE(run(held, kBoth, {1.0, 3.0, 2.0}, 10000).of(Sharing::kAlone) > 9500);
}

TEST(rows_have_to_gain_over_the_ops_not_only_over_one_thread) {
  StepSharing sharing;
  EXPECT_TRUE(run(sharing, kBoth, {1.0, 0.9, 0.6}, 10000).of(Sharing::kOps) > 9000);
}

TEST(the_ops_are_judged_by_what_one_thread_takes_not_by_what_sharing_rows_took) {
  StepSharing sharing;
  run(sharing, kBoth, {1.0, 0.55, 0.7}, 1000);
  EXPECT_TRUE(run(sharing, kOpsOnly, {1.0, 0.55, 0.8}, 20).of(Sharing::kOps) >= 19);
}

TEST(a_way_that_a_step_does_not_allow_is_never_taken) {
  StepSharing free, busy;  // `free` has learnt that rows are fastest, `busy` that ops are
  run(free, kBoth, {1.0, 0.55, 0.7}, 1000);
  run(busy, kBoth, {1.0, 1.3, 0.7}, 1000);
  EXPECT_EQ(run(free, kOpsOnly, {1.0, 0.1, 0.6}, 1000).of(Sharing::kRows), 0);
  EXPECT_EQ(run(busy, kRowsOnly, {1.0, 3.0, 0.1}, 1000).of(Sharing::kOps), 0);
  StepSharing rows, ops, none;
  EXPECT_EQ(run(rows, kRowsOnly, {1.0, 0.6, 0.1}, 1000).of(Sharing::kOps), 0);
  EXPECT_EQ(run(ops, kOpsOnly, {1.0, 0.1, 0.6}, 1000).of(Sharing::kRows), 0);
  EXPECT_EQ(run(none, kNone, {1.0, 0.1, 0.1}, 1000).of(Sharing::kAlone), 1000);
  EXPECT_TRUE(run(rows, kRowsOnly, {1.0, 0.6, 0.1}, 1000).of(Sharing::kRows) > 950);
  EXPECT_TRUE(run(ops, kOpsOnly, {1.0, 0.1, 0.6}, 1000).of(Sharing::kOps) > 950);
}

TEST(a_long_step_is_divided_from_the_first_on) {
  StepSharing rows, ops, both;
  constexpr double kLong = StepSharing::kLongStep;
  EXPECT_EQ(run(rows, kRowsOnly, {1.0, 3.0, 1.0}, 100, kLong).of(Sharing::kRows), 100);
  EXPECT_EQ(run(ops, kOpsOnly, {1.0, 1.0, 3.0}, 100, kLong).of(Sharing::kOps), 100);
  EXPECT_EQ(run(both, kBoth, {1.0, 0.5, 0.7}, 100, kLong).of(Sharing::kAlone), 0);
  EXPECT_EQ(run(both, kNone, {1.0, 1.0, 1.0}, 100, kLong).of(Sharing::kAlone), 100);
}

TEST(long_steps_do_not_change_what_is_known_of_short_ones) {
  StepSharing rows, ops;
  run(rows, kRowsOnly, {1.0, 0.55, 1.0}, 1000), run(ops, kOpsOnly, {1.0, 1.0, 0.55}, 1000);
  constexpr double kLong = StepSharing::kLongStep;
  run(rows, kRowsOnly, {1.0, 100.0, 1.0}, 100, kLong), run(ops, kOpsOnly, {1.0, 1.0, 100.0}, 100, kLong);
  EXPECT_TRUE(run(rows, kRowsOnly, {1.0, 0.55, 1.0}, 1000).of(Sharing::kRows) > 950);
  EXPECT_TRUE(run(ops, kOpsOnly, {1.0, 1.0, 0.55}, 1000).of(Sharing::kOps) > 950);
}

}  // namespace engine_step_sharing_test
