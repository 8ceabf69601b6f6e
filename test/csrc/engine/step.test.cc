// How rows are cut into chunks must not show in any bit: the same rows in one step or in many, in front of or
// behind a long prompt chunk, over one thread or two, small weights or large. Tried mutant, killed: a chunk's
// samples all taken from its first row.
#include "engine/step.h"

#include <algorithm>

#include "rollouts.h"

using namespace hone;
using namespace hone::engine;
using namespace hone::test;

namespace {

/// Weights above the size that lets threads share rows; the layers stay cheap.
model::ModelConfig large_head() {
  model::ModelConfig c = small_decoder();
  c.vocabulary = 110000;
  return c;
}

Rollouts generate(const model::ModelConfig& model, const std::vector<Request>& requests, int32_t step_tokens,
                  ThreadPool* pool) {
  EngineConfig config;
  config.max_running = 48, config.pages = 512, config.max_context = 250, config.step_tokens = step_tokens;
  Engine engine(model, config, pool);
  engine.set_weights(random_weights(model, 3, 1));
  for (const Request& r : requests) engine.submit(r);
  return drain(engine);
}

void expect_same(const Rollouts& a, const Rollouts& b) {
  EXPECT_EQ(a.size(), b.size());
  for (const auto& [who, rollout] : a) EXPECT_TRUE(same_rollout(rollout, b.at(who)));
}

}  // namespace

TEST(short_and_long_prompts_mix_with_decoding_rows) {
  const model::ModelConfig model = small_decoder();
  std::vector<Request> requests;
  for (uint64_t i = 0; i < 30; ++i) {
    requests.push_back(random_request(model, i, i % 4 == 0 ? 200 : 30, 12));
    if (i % 4 == 0) requests.back().prompt.resize(200, 7);  // longer than a chunk
    requests.back().count = int32_t(1 + i % 5);
  }
  const Rollouts reference = generate(model, requests, 1, nullptr);
  ThreadPool two(2), four(4);
  for (const int32_t step_tokens : {40, 64, 65, 300, 2000}) {
    expect_same(reference, generate(model, requests, step_tokens, nullptr));
    expect_same(reference, generate(model, requests, step_tokens, &two));
    expect_same(reference, generate(model, requests, step_tokens, &four));
  }
}

TEST(weights_beyond_the_cache_are_split_inside_the_ops_with_the_same_bits) {
  const model::ModelConfig model = large_head();
  std::vector<Request> requests;
  for (uint64_t i = 0; i < 5; ++i) requests.push_back(random_request(model, i, 20, 4));
  ThreadPool two(2);
  const Rollouts reference = generate(model, requests, 1, nullptr);
  expect_same(reference, generate(model, requests, 64, nullptr));
  expect_same(reference, generate(model, requests, 64, &two));
}

TEST(more_attempts_than_a_head_pass_takes_are_drawn_from_one_row) {
  const model::ModelConfig model = small_decoder();
  Request r = random_request(model, 1, 20, 1);
  r.count = 150;  // a head pass takes 64
  const Rollouts together = generate(model, {r}, 64, nullptr);
  EXPECT_EQ(together.size(), size_t(150));
  Request one = r;
  one.count = 1, one.first_attempt = 149;
  EXPECT_TRUE(same_rollout(generate(model, {one}, 64, nullptr).at({1, 0}), together.at({1, 149})));
}

TEST_MAIN
