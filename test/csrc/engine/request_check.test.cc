// Tests each rule for requests with the last value that passes and the first that does not. engine.test.cc shows that
// submit() and the constructor apply these rules.
#include "engine/request_check.h"

#include "check.h"

namespace engine_request_check_test {

using namespace hone;
using namespace hone::engine;

namespace {

model::ModelConfig model_of() {
  model::ModelConfig c;
  c.vocabulary = 100, c.max_positions = 256;
  return c;
}

EngineConfig config_of() {
  EngineConfig c;
  c.max_context = 200, c.pages = 4;
  return c;
}

Request good() {
  Request r;
  r.prompt.assign(20, 1), r.count = 2, r.max_tokens = 20;
  return r;
}

bool passes(const Request& r, const EngineConfig& c = config_of()) {
  try {
    check_request(r, c, model_of());
    return true;
  } catch (const Error& e) {
    EXPECT_TRUE(e.code() == Code::kConfig);
    EXPECT_TRUE(std::string(e.what()).find("request 0") == 0);
    return false;
  }
}

}  // namespace

TEST(pages_count_the_keys_that_are_written_and_the_partial_page_kept_aside) {
  Request r = good();  // 20 + 20 - 1 = 39 keys need 3 pages, and one page is kept for a copy
  EXPECT_TRUE(passes(r));
  r.max_tokens = 29;  // 48 keys still need 3 pages
  EXPECT_TRUE(passes(r));
  r.max_tokens = 30;  // 49 keys need 4 pages, and one for a copy: one more than there are
  EXPECT_TRUE(!passes(r));
  r.count = 1;  // no other attempt needs a copy of the partial page
  EXPECT_TRUE(passes(r));
  // the prompt ends with a full page, so no page is kept for a copy
  r.prompt.assign(32, 1), r.count = 2, r.max_tokens = 33;
  EXPECT_TRUE(passes(r));
  r.max_tokens = 34;
  EXPECT_TRUE(!passes(r));
}

TEST(context_is_prompt_and_generated_tokens) {
  EngineConfig c = config_of();
  c.pages = 100;
  Request r = good();
  r.max_tokens = 180;
  EXPECT_TRUE(passes(r, c));
  r.max_tokens = 181;
  EXPECT_TRUE(!passes(r, c));
  r.max_tokens = INT32_MAX;  // the sum must not overflow
  EXPECT_TRUE(!passes(r, c));
}

TEST(attempts_are_counted_before_memory_is_taken_for_them) {
  Request r = good();
  for (const auto& [count, fine] : {std::pair{1, true}, {65536, true}, {0, false}, {65537, false}, {INT32_MAX, false}}) {
    r.count = count;
    EXPECT_EQ(passes(r), fine);
  }
}

TEST(seeds_are_none_or_one_an_attempt) {
  Request r = good();
  r.seeds = {1, 2};
  EXPECT_TRUE(passes(r));
  for (const std::vector<uint64_t>& seeds : {std::vector<uint64_t>{1}, {1, 2, 3}}) {
    r.seeds = seeds;
    EXPECT_TRUE(!passes(r));
  }
}

TEST(sampling_bounds) {
  const auto with = [](kernels::SamplingParams s) {
    Request r = good();
    r.sampling = s;
    return passes(r);
  };
  EXPECT_TRUE(with({0.0f, 0, 1.0f, 0.0f}));
  EXPECT_TRUE(with({1e-6f, 0, 1.0f, 0.0f}));
  EXPECT_TRUE(with({1e4f, 0, 1.0f, 0.0f}));
  EXPECT_TRUE(!with({0.99e-6f, 0, 1.0f, 0.0f}));  // a temperature of 1e-40 would make every log-prob NaN
  EXPECT_TRUE(!with({-1e-9f, 0, 1.0f, 0.0f}));
  EXPECT_TRUE(!with({std::numeric_limits<float>::infinity(), 0, 1.0f, 0.0f}));
  EXPECT_TRUE(!with({1.0f, 0, 1.0001f, 0.0f}));
  EXPECT_TRUE(with({1.0f, 0, 1e-6f, 0.999f}));
  EXPECT_TRUE(!with({1.0f, 0, 0.0f, 0.0f}));
  EXPECT_TRUE(!with({1.0f, 0, 1.0f, 1.0f}));
  EXPECT_TRUE(!with({1.0f, -1, 1.0f, 0.0f}));
  EXPECT_TRUE(with({1.0f, 0, 1.0f, 0.0f, 1}));
  EXPECT_TRUE(!with({1.0f, 0, 1.0f, 0.0f, -1}));
}

TEST(plans_cover_every_attempt_and_ascend) {
  const auto with = [](std::vector<std::vector<VersionRun>> plan) {
    Request r = good();
    r.plan = std::move(plan);
    return passes(r);
  };
  EXPECT_TRUE(with({{{0, 1}}, {{0, 1}, {4, 2}, {9, 5}}}));
  EXPECT_TRUE(!with({{{0, 1}}}));
  EXPECT_TRUE(!with({{{0, 1}}, {}}));
  EXPECT_TRUE(!with({{{0, 1}}, {{1, 1}}}));
  EXPECT_TRUE(!with({{{0, 1}}, {{0, 2}}}));
  EXPECT_TRUE(!with({{{0, 1}, {4, 1}}, {{0, 1}}}));
  EXPECT_TRUE(!with({{{0, 1}, {4, 2}, {4, 3}}, {{0, 1}}}));
}

TEST(what_was_sampled_before_is_behind_a_prompt) {
  const auto with = [](int32_t begun) {
    Request r = good();
    r.begun = begun;
    return passes(r);
  };
  const auto prompt = int32_t(good().prompt.size());
  EXPECT_TRUE(with(0) && with(prompt - 1));
  EXPECT_TRUE(!with(prompt) && !with(-1));
}

TEST(stop_strings_need_bytes) {
  Request r = good();
  r.stop_strings = {"x"};
  EXPECT_TRUE(!passes(r));
  EngineConfig c = config_of();
  c.token_bytes = {"x"};
  EXPECT_TRUE(passes(r, c));
  r.stop_strings.push_back("");
  EXPECT_TRUE(!passes(r, c));
}

TEST(engine_options_have_bounds_too) {
  const auto passes_config = [](auto change) {
    EngineConfig c = config_of();
    change(c);
    try {
      check_engine_config(c, model_of());
      return true;
    } catch (const Error& e) {
      EXPECT_TRUE(e.code() == Code::kConfig);
      return false;
    }
  };
  EXPECT_TRUE(passes_config([](EngineConfig&) {}));
  EXPECT_TRUE(passes_config([](EngineConfig& c) { c.max_context = 256; }));
  EXPECT_TRUE(!passes_config([](EngineConfig& c) { c.max_context = 257; }));
  EXPECT_TRUE(!passes_config([](EngineConfig& c) { c.page_tokens = 0; }));
  EXPECT_TRUE(!passes_config([](EngineConfig& c) { c.page_tokens = 8; }));
  EXPECT_TRUE(!passes_config([](EngineConfig& c) { c.step_tokens = 0; }));
  EXPECT_TRUE(!passes_config([](EngineConfig& c) { c.max_running = 0; }));
  EXPECT_TRUE(passes_config([](EngineConfig& c) { c.max_running = 65536, c.page_tokens = 4096, c.pages = 1 << 28; }));
  EXPECT_TRUE(!passes_config([](EngineConfig& c) { c.max_running = 65537; }));
  EXPECT_TRUE(!passes_config([](EngineConfig& c) { c.page_tokens = 4112; }));
  EXPECT_TRUE(!passes_config([](EngineConfig& c) { c.pages = (1 << 28) + 1; }));
  EXPECT_TRUE(!passes_config([](EngineConfig& c) { c.step_tokens = (1 << 24) + 1; }));
  EXPECT_TRUE(!passes_config([](EngineConfig& c) { c.token_bytes.resize(101); }));
}

}  // namespace engine_request_check_test
