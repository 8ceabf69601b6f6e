// The engine's guarantees on a small random network. Faults tried, each detected: the sample key built from
// row indices; the new token's position off by one; new weights taken while a prompt is partly prefilled; an
// abort not reported; oldest_kv from the newest version; the KV cache not zeroed after non-finite weights.
#include "engine/engine.h"

#include <algorithm>

#include "model/network.h"
#include "rollouts.h"
namespace engine_engine_test {
using namespace hone;
using namespace hone::engine;
using namespace hone::test;

namespace {

EngineConfig roomy() {
  EngineConfig c;
  c.max_running = 16, c.pages = 512, c.max_context = 200, c.step_tokens = 128, c.run_seed = 99;
  return c;
}

struct Load {
  model::ModelConfig model = small_decoder();
  std::shared_ptr<const model::WeightSnapshot> weights = random_weights(model, 5, 1);
  std::vector<Request> requests;

  explicit Load(int n, int32_t max_tokens = 40) {
    for (int i = 0; i < n; ++i) {
      requests.push_back(random_request(model, uint64_t(i + 1), 50, int32_t(random_int(1, max_tokens))));
      requests.back().count = int32_t(random_int(1, 4));
      if (i % 3 == 1) requests.back().sampling = {0.7f, 20, 0.9f, 0.01f};
      if (i % 5 == 4) requests.back().sampling.temperature = 0.0f;
    }
  }
  Rollouts run(const EngineConfig& config, ThreadPool* pool = nullptr) const {
    Engine engine(model, config, pool);
    engine.set_weights(weights);
    for (const Request& r : requests) engine.submit(r);
    return drain(engine);
  }
};

void expect_same(const Rollouts& a, const Rollouts& b, const char* what) {
  bool same = a.size() == b.size();
  for (const auto& [who, rollout] : a) same = same && b.count(who) && same_rollout(rollout, b.at(who));
  if (!same) report(__FILE__, __LINE__, std::string("rollouts differ: ") + what);
}

}  // namespace

TEST(tokens_depend_on_weights_prompt_and_key_only) {
  const Load load(24);
  const Rollouts reference = load.run(roomy());
  EngineConfig c = roomy();
  c.max_running = 1;
  expect_same(reference, load.run(c), "one at a time");
  c = roomy(), c.step_tokens = 1;
  expect_same(reference, load.run(c), "prefill one row a step");
  c = roomy(), c.step_tokens = 37;
  expect_same(reference, load.run(c), "odd prefill chunks");
  c = roomy(), c.page_tokens = 48;
  expect_same(reference, load.run(c), "larger pages");
  c = roomy(), c.max_running = 64, c.step_tokens = 4096;
  expect_same(reference, load.run(c), "everything at once");
  ThreadPool two(2);
  expect_same(reference, load.run(roomy(), &two), "two threads");
  Load backwards = load;
  std::reverse(backwards.requests.begin(), backwards.requests.end());
  expect_same(reference, backwards.run(roomy()), "another order");
}

TEST(each_token_is_drawn_from_its_row_of_the_packed_forward_with_its_own_key) {
  Load load(6, 30);
  for (Request& r : load.requests) r.first_attempt = 5;
  const Rollouts rollouts = load.run(roomy());
  for (const Request& r : load.requests) {
    for (int32_t a = 0; a < r.count; ++a) {
      const Rollout& rollout = rollouts.at({r.id, a});
      std::vector<int32_t> ids = r.prompt, positions, cu_seqlens = {0};
      ids.insert(ids.end(), rollout.tokens.begin(), rollout.tokens.end());
      const auto T = int64_t(ids.size()), P = int64_t(r.prompt.size());
      for (int32_t t = 0; t < T; ++t) positions.push_back(t);
      cu_seqlens.push_back(int32_t(T));
      Arena arena(model::training_bytes({}, load.model, T, false).total(), "test");
      model::PackedRows rows;
      rows.ids = i32(ids.data(), {T}), rows.positions = i32(positions.data(), {T});
      rows.cu_seqlens = i32(cu_seqlens.data(), {2});
      const model::Activations forward = model::forward_training(Stream{}, *load.weights, rows, arena);
      for (int64_t t = P; t < T; ++t) {
        const SampleKey key{roomy().run_seed, r.problem, uint32_t(5 + a), uint32_t(t)};
        int32_t token = -1;
        float logprob = NAN, entropy = NAN;
        kernels::lm_head_sample(Stream{}, {f32(forward.hidden.row<float>(t - 1), {1, load.model.width}),
                                           load.weights->head, &r.sampling, &key, i32(&token, {1}), f32(&logprob, {1}),
                                           f32(&entropy, {1}), nullptr});
        EXPECT_EQ(rollout.tokens[size_t(t - P)], token);
        EXPECT_TRUE(same_bits(&rollout.logprobs[size_t(t - P)], &logprob, 1));
      }
    }
  }
}

TEST(preemption_changes_no_bit) {
  const Load load(12, 100);
  EngineConfig tight = roomy();
  tight.pages = 14;
  Engine engine(load.model, tight, nullptr);
  engine.set_weights(load.weights);
  for (const Request& r : load.requests) engine.submit(r);
  const Rollouts squeezed = drain(engine);
  EXPECT_TRUE(engine.stats().preemptions > 0);
  EXPECT_EQ(engine.stats().pages_used, int64_t(0));
  expect_same(load.run(roomy()), squeezed, "14 pages");
}

TEST(attempts_of_one_prompt_equal_requests_of_one_attempt) {
  Load load(1, 30);
  load.requests[0].count = 6, load.requests[0].first_attempt = 3, load.requests[0].max_tokens = 40;
  const Rollouts together = load.run(roomy());
  Load alone = load;
  alone.requests.clear();
  for (int32_t a = 0; a < 6; ++a) {
    alone.requests.push_back(load.requests[0]);
    alone.requests.back().id = uint64_t(a), alone.requests.back().count = 1;
    alone.requests.back().first_attempt = uint32_t(3 + a);
  }
  const Rollouts apart = alone.run(roomy());
  bool all_equal = true;
  for (int32_t a = 0; a < 6; ++a) {
    EXPECT_TRUE(same_rollout(together.at({load.requests[0].id, a}), apart.at({uint64_t(a), 0})));
    all_equal = all_equal && together.at({load.requests[0].id, a}).tokens == together.at({load.requests[0].id, 0}).tokens;
  }
  EXPECT_TRUE(!all_equal);  // attempts differ, because the sample key includes the attempt
}

TEST(another_run_seed_samples_other_tokens) {
  Load load(4);
  for (Request& r : load.requests) r.max_tokens = 40, r.sampling = {};
  EngineConfig other = roomy();
  other.run_seed = 100;
  bool differs = false;
  const Rollouts a = load.run(roomy()), b = load.run(other);
  for (const auto& [who, rollout] : a) differs = differs || rollout.tokens != b.at(who).tokens;
  EXPECT_TRUE(differs);
}

TEST(finish_reasons_say_why) {
  Load load(1);
  Request& r = load.requests[0];
  r.count = 1, r.max_tokens = 30, r.sampling = {};
  const Rollout free_run = load.run(roomy()).at({1, 0});
  EXPECT_TRUE(free_run.finish == Finish::kLength);
  EXPECT_EQ(free_run.tokens.size(), size_t(30));

  r.stop_ids = {free_run.tokens[7]};
  const auto first = std::find(free_run.tokens.begin(), free_run.tokens.end(), free_run.tokens[7]);
  const Rollout eos = load.run(roomy()).at({1, 0});
  EXPECT_TRUE(eos.finish == Finish::kEos);
  EXPECT_TRUE(eos.tokens == std::vector<int32_t>(free_run.tokens.begin(), first + 1));

  r.stop_ids = {free_run.tokens[29]}, r.max_tokens = 30;  // a stop token at max_tokens counts as a stop, not as a cut
  EXPECT_TRUE(load.run(roomy()).at({1, 0}).finish == Finish::kEos);
}

TEST(stop_strings_span_tokens) {
  Load load(1);
  Request& r = load.requests[0];
  r.count = 1, r.max_tokens = 30, r.sampling = {};
  const Rollout free_run = load.run(roomy()).at({1, 0});
  EngineConfig c = roomy();
  for (int i = 0; i < 61; ++i) c.token_bytes.push_back(std::to_string(i).append("|"));
  const std::string a = c.token_bytes[size_t(free_run.tokens[4])], b = c.token_bytes[size_t(free_run.tokens[5])];
  r.stop_strings = {"nowhere", std::string(a, 1).append(b, 0, 1)};
  const Rollout stopped = load.run(c).at({1, 0});
  EXPECT_TRUE(stopped.finish == Finish::kStop);
  EXPECT_TRUE(stopped.tokens.size() <= 6);
  EXPECT_TRUE(std::equal(stopped.tokens.begin(), stopped.tokens.end(), free_run.tokens.begin()));
}

TEST(weights_swap_in_flight_and_tokens_say_so) {
  Load load(6, 40);
  Engine engine(load.model, roomy(), nullptr);
  StepOutput step;
  Rollouts all;
  for (const Request& r : load.requests) engine.submit(r);
  EXPECT_TRUE(!engine.step(step));  // there are no weights yet
  for (uint32_t version = 1; version <= 12; ++version) {
    engine.set_weights(random_weights(load.model, version, version));
    engine.step(step);
    gather(step, all);
    for (const uint32_t v : step.version) EXPECT_EQ(v, engine.stats().version);
  }
  for (const auto& [who, r] : drain(engine)) {
    Rollout& whole = all[who];
    for (size_t i = 0; i < r.tokens.size(); ++i) {
      whole.tokens.push_back(r.tokens[i]), whole.versions.push_back(r.versions[i]);
      whole.oldest_kv.push_back(r.oldest_kv[i]);
    }
  }
  for (const auto& [who, r] : all) {
    EXPECT_TRUE(std::is_sorted(r.versions.begin(), r.versions.end()));
    // A sequence's oldest keys are its prompt's, computed with the version that sampled its first token.
    for (const uint32_t oldest : r.oldest_kv) EXPECT_EQ(oldest, r.versions.front());
  }
  EXPECT_TRUE(engine.stats().weight_swaps >= 5 && engine.stats().weight_swap_seconds > 0);
}

TEST(a_prompt_is_never_prefilled_with_two_versions) {
  Load load(1);
  load.requests[0] = random_request(load.model, 1, 1, 2);
  load.requests[0].prompt.assign(100, 3);
  EngineConfig c = roomy();
  c.step_tokens = 30;
  Engine engine(load.model, c, nullptr);
  engine.set_weights(load.weights);
  engine.submit(load.requests[0]);
  engine.submit(random_request(load.model, 2, 50, 3));
  StepOutput step;
  engine.step(step);
  engine.set_weights(random_weights(load.model, 8, 2));
  const Rollouts rest = drain(engine);
  EXPECT_EQ(rest.at({1, 0}).versions.front(), 1u);
  EXPECT_EQ(rest.at({1, 0}).versions.back(), 2u);
  EXPECT_EQ(rest.at({2, 0}).versions.front(), 2u);  // started after the engine had switched to version 2
}

TEST(the_newest_pending_version_wins) {
  Load load(1);
  Engine engine(load.model, roomy(), nullptr);
  for (uint32_t v = 1; v <= 3; ++v) engine.set_weights(random_weights(load.model, v, v));
  engine.submit(load.requests[0]);
  for (const auto& [who, r] : drain(engine)) EXPECT_EQ(r.versions.front(), 3u);
  EXPECT_EQ(engine.stats().weight_swaps, int64_t(1));
}

TEST(a_recorded_run_replays_to_the_bit) {
  const Load load(10, 40);
  std::vector<std::shared_ptr<const model::WeightSnapshot>> versions;
  for (uint32_t v = 1; v <= 6; ++v) versions.push_back(random_weights(load.model, v, v));
  Engine recorder(load.model, roomy(), nullptr);
  Rollouts recorded;
  StepOutput step;
  for (const Request& r : load.requests) recorder.submit(r);
  for (const auto& w : versions) {
    recorder.set_weights(w);
    for (int64_t n = random_int(1, 8); n > 0; --n) recorder.step(step), gather(step, recorded);
  }
  while (recorder.step(step)) gather(step, recorded);

  EngineConfig other = roomy();
  other.max_running = 3, other.step_tokens = 7, other.pages = 24;
  Engine player(load.model, other, nullptr);
  for (const auto& w : versions) player.set_weights(w);  // the versions wait in a queue
  for (Request r : load.requests) {
    for (int32_t a = 0; a < r.count; ++a) {
      const std::vector<uint32_t>& stamps = recorded.at({r.id, a}).versions;
      std::vector<VersionRun> runs;
      for (size_t i = 0; i < stamps.size(); ++i) {
        if (runs.empty() || runs.back().version != stamps[i]) runs.push_back({int32_t(i), stamps[i]});
      }
      r.plan.push_back(runs);
    }
    player.submit(r);
  }
  expect_same(recorded, drain(player), "replayed in another engine");
}

TEST(a_plan_with_a_missing_version_is_an_error_not_a_hang) {
  Load load(1);
  Engine engine(load.model, roomy(), nullptr);
  engine.set_weights(random_weights(load.model, 1, 1));
  Request r = random_request(load.model, 1, 10, 10);
  r.plan = {{{0, 1}, {3, 2}}};
  engine.submit(r);
  StepOutput step;
  while (engine.step(step)) {
  }
  EXPECT_EQ(engine.stats().waiting, int64_t(1));
  engine.set_weights(random_weights(load.model, 3, 3));
  EXPECT_THROWS(engine.step(step), Code::kState);
  engine.abort(1);
  EXPECT_TRUE(engine.step(step));
  EXPECT_EQ(engine.stats().version, 3u);
}

TEST(abort_ends_one_attempt_or_all_at_any_time) {
  for (int when = 0; when < 5; ++when) {
    Load load(3, 40);
    for (Request& r : load.requests) r.count = 3, r.max_tokens = 40, r.stop_ids.clear();
    const Rollouts reference = load.run(roomy());
    EngineConfig c = roomy();
    c.step_tokens = 20;
    Engine engine(load.model, c, nullptr);
    engine.set_weights(load.weights);
    for (const Request& r : load.requests) engine.submit(r);
    Rollouts all;
    StepOutput step;
    for (int i = 0; i < 3 * when; ++i) engine.step(step), gather(step, all);
    engine.abort(1);
    engine.abort(2, 1);
    engine.abort(2, 1);
    engine.abort(77);
    while (engine.step(step)) gather(step, all);
    for (int32_t a = 0; a < 3; ++a) EXPECT_TRUE(all.at({1, a}).finish == Finish::kAbort);
    EXPECT_TRUE(all.at({2, 1}).finish == Finish::kAbort);
    for (const auto& who : {std::pair<uint64_t, int32_t>{2, 0}, {2, 2}, {3, 0}}) {
      EXPECT_TRUE(same_rollout(all.at(who), reference.at(who)));
    }
    EXPECT_EQ(engine.stats().pages_used, int64_t(0));
  }
}

TEST(non_finite_weights_throw_and_leave_a_usable_engine) {
  Load load(2);
  const Rollouts reference = load.run(roomy());
  model::Parameters broken(load.model);
  broken.initialize(1);
  broken.layer(1).o.as<float>()[7] = std::nanf("");
  Engine engine(load.model, roomy(), nullptr);
  engine.set_weights(model::WeightSnapshot::make(Stream{}, broken, 1));
  for (const Request& r : load.requests) engine.submit(r);
  StepOutput step;
  EXPECT_THROWS(engine.step(step), Code::kNonFinite);
  EXPECT_EQ(engine.stats().pages_used, int64_t(0));
  engine.set_weights(load.weights);
  for (const Request& r : load.requests) engine.submit(r);
  expect_same(reference, drain(engine), "after broken weights");
}

TEST(counters_add_up) {
  const Load load(5);
  Engine engine(load.model, roomy(), nullptr);
  engine.set_weights(load.weights);
  int64_t prompt = 0, attempts = 0;
  for (const Request& r : load.requests) {
    engine.submit(r);
    prompt += int64_t(r.prompt.size()), attempts += r.count;
  }
  EXPECT_EQ(engine.stats().waiting, attempts);
  int64_t tokens = 0;
  for (const auto& [who, r] : drain(engine)) tokens += int64_t(r.tokens.size());
  const EngineStats s = engine.stats();
  EXPECT_EQ(s.prefill_tokens, prompt);
  EXPECT_EQ(s.decode_tokens, tokens - attempts);  // attempts' first tokens come from the prompt's last row
  EXPECT_EQ(s.finished, attempts);
  EXPECT_NEAR(s.prefill_seconds + s.decode_seconds, s.busy_seconds, 1e-9);
}

TEST(requests_that_cannot_run_are_refused_at_submit) {
  const Load load(1);
  EngineConfig c = roomy();
  c.pages = 5;
  Engine engine(load.model, c, nullptr);
  const auto refused = [&](auto change) {
    Request r = load.requests[0];
    r.prompt.assign(40, 1), r.count = 2, r.max_tokens = 25;  // 4 pages and the partial prompt page
    change(r);
    EXPECT_THROWS(engine.submit(r), Code::kConfig);
  };
  refused([](Request& r) { r.prompt.clear(); });
  refused([](Request& r) { r.prompt[3] = 61; });
  refused([](Request& r) { r.max_tokens = 26; });  // needs one page more than the engine has
  refused([](Request& r) { r.sampling.temperature = std::nanf(""); });
  refused([](Request& r) { r.plan = {{{0, 1}}}; });
  Request good = load.requests[0];
  good.prompt.assign(40, 1), good.count = 2, good.max_tokens = 25;
  engine.submit(good);
  EXPECT_THROWS(engine.submit(good), Code::kConfig);  // the id is in use
}

TEST(configurations_that_cannot_work_are_refused) {
  const model::ModelConfig m = small_decoder();
  const auto refused = [&](auto change) {
    EngineConfig c = roomy();
    change(c);
    EXPECT_THROWS(Engine(m, c, nullptr), Code::kConfig);
  };
  refused([](EngineConfig& c) { c.max_running = 0; });
  refused([](EngineConfig& c) { c.pages = 0; });
  refused([](EngineConfig& c) { c.page_tokens = 24; });
  refused([](EngineConfig& c) { c.step_tokens = 0; });
  refused([](EngineConfig& c) { c.max_context = 257; });
  refused([](EngineConfig& c) { c.token_bytes.resize(62); });
  Engine engine(m, roomy(), nullptr);
  EXPECT_THROWS(engine.set_weights(nullptr), Code::kConfig);
  model::ModelConfig wider = m;
  wider.mlp_width = 60;
  EXPECT_THROWS(engine.set_weights(random_weights(wider, 1, 1)), Code::kConfig);
}

TEST(weights_of_another_storage_are_refused) {
  Load load(1);
  EngineConfig c = roomy();
  c.weight_storage = DType::kBF16;
  Engine engine(load.model, c, nullptr);
  EXPECT_THROWS(engine.set_weights(load.weights), Code::kConfig);
}

}  // namespace engine_engine_test
