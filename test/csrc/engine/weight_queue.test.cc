#include "engine/weight_queue.h"

#include "rollouts.h"

namespace engine_weight_queue_test {

using namespace hone;
using hone::engine::WeightQueue;

namespace {

std::shared_ptr<const model::WeightSnapshot> version(uint32_t v) {
  return hone::test::random_weights(hone::test::small_decoder(), 1, v);
}

}  // namespace

TEST(without_plans_the_newest_wins) {
  WeightQueue queue;
  EXPECT_TRUE(!queue.advance({}));
  for (const uint32_t v : {1u, 2u, 3u}) queue.push(version(v));
  EXPECT_TRUE(queue.advance({}));
  EXPECT_EQ(queue.current()->version, 3u);
  EXPECT_TRUE(!queue.pending());
}

TEST(an_older_version_may_be_pushed_when_nothing_is_planned) {
  WeightQueue queue;
  queue.push(version(7));
  queue.advance({});
  queue.push(version(2));  // an older version, as after loading an older checkpoint
  EXPECT_TRUE(queue.advance({}));
  EXPECT_EQ(queue.current()->version, 2u);
}

TEST(an_older_version_makes_the_oldest_keys_older) {
  hone::engine::EngineConfig config;
  config.pages = 16, config.max_context = 64;
  hone::engine::Engine engine(hone::test::small_decoder(), config, nullptr);
  engine.submit(hone::test::random_request(hone::test::small_decoder(), 1, 5, 9));
  hone::engine::StepOutput step;
  for (const auto& [pushed, oldest] : {std::pair{5u, 5u}, {2u, 2u}, {9u, 2u}}) {
    engine.set_weights(version(pushed));
    engine.step(step);
    EXPECT_EQ(step.version.front(), pushed);
    EXPECT_EQ(step.oldest_kv.front(), oldest);
  }
}

TEST(with_plans_versions_are_taken_in_order_up_to_the_one_needed) {
  WeightQueue queue;
  for (const uint32_t v : {1u, 2u, 3u, 4u}) queue.push(version(v));
  EXPECT_TRUE(queue.advance(2u));
  EXPECT_EQ(queue.current()->version, 2u);
  EXPECT_TRUE(!queue.advance(2u));  // version 2 is still needed
  EXPECT_TRUE(queue.advance(4u));
  EXPECT_EQ(queue.current()->version, 4u);
}

TEST(a_version_that_was_left_out_is_an_error) {
  WeightQueue queue;
  queue.push(version(1));
  queue.advance(1u);
  queue.push(version(3));
  EXPECT_THROWS(queue.advance(2u), Code::kState);
  EXPECT_EQ(queue.current()->version, 1u);
}

}  // namespace engine_weight_queue_test
