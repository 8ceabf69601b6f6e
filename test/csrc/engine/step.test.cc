// Dividing rows into chunks must not change any bit: the same rows in one step or in several, before or after
// a long prompt chunk, with one thread or two, with small weights or large. A fault put into the code,
// detected here: a chunk's samples all taken from its first row.
#include "engine/step.h"
#include "engine/step_device.h"

#include <algorithm>

#include "rollouts.h"

namespace engine_step_test {

using namespace hone;
using namespace hone::engine;
using namespace hone::test;

namespace {

/// A model whose weights are large enough that threads divide rows, with small layers.
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
    if (i % 4 == 0) requests.back().prompt.resize(200, 7);  // a prompt longer than a chunk
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
  r.count = 150;  // more than the 64 rows of one pass of the head
  const Rollouts together = generate(model, {r}, 64, nullptr);
  EXPECT_EQ(together.size(), size_t(150));
  Request one = r;
  one.count = 1, one.first_attempt = 149;
  EXPECT_TRUE(same_rollout(generate(model, {one}, 64, nullptr).at({1, 0}), together.at({1, 149})));
}

TEST(decode_steps_are_made_up_to_few_sizes) {
  const std::vector<std::pair<int32_t, int32_t>> sizes{{1, 1}, {2, 2}, {3, 4}, {4, 4}, {5, 8}, {8, 8}, {9, 16}, {16, 16}, {17, 24}, {64, 64}};
  for (const auto& [count, bucket] : sizes) EXPECT_EQ(engine::decode_bucket(count, 64), bucket);
  EXPECT_EQ(engine::decode_bucket(3, 3), 3);    // a bucket has no more rows than may run
  EXPECT_EQ(engine::decode_bucket(17, 20), 20);
}

TEST(rows_and_samples_follow_the_pieces) {
  Request r;
  r.id = 4, r.problem = 9, r.first_attempt = 2, r.count = 3, r.prompt = {5, 6, 7, 8};
  r.sampling.temperature = 0.5f;
  engine::Group group(r, 0, 16);
  for (engine::Sequence& s : group.members) s.group = &group;
  group.members[1].state = engine::Sequence::State::kEnded;
  engine::Sequence& decoding = group.members[2];
  decoding.generated = 2;
  const int32_t last = 41;
  engine::StepRows rows;
  const std::vector<engine::Piece> pieces{{&group, &decoding, &last, 1, 5, 7, 1},
                                          {&group, nullptr, group.request.prompt.data(), 2, 0, 3, 0},
                                          {&group, nullptr, group.request.prompt.data() + 2, 2, 2, 3, 2}};
  rows.lay_out(pieces, 77);
  rows.lay_out(pieces, 77);  // nothing of the first call remains
  EXPECT_TRUE((rows.ids == std::vector<int32_t>{41, 5, 6, 7, 8}));
  EXPECT_TRUE((rows.positions == std::vector<int32_t>{5, 0, 1, 2, 3}));
  EXPECT_TRUE((rows.table_rows == std::vector<int32_t>{7, 3, 3, 3, 3}));
  EXPECT_TRUE((rows.sample_rows == std::vector<int32_t>{0, 4, 4}));
  EXPECT_TRUE(rows.samples[0].sequence == &decoding && rows.samples[1].sequence == &group.members[0]);
  EXPECT_TRUE(rows.samples[2].sequence == &decoding);
  EXPECT_TRUE(rows.keys[0].run_seed == 77 && rows.keys[0].problem == 9 && rows.keys[0].attempt == 4);
  EXPECT_EQ(rows.keys[0].position, uint32_t(decoding.position() + 1));
  EXPECT_EQ(rows.params[1].temperature, 0.5f);
}

}  // namespace engine_step_test
