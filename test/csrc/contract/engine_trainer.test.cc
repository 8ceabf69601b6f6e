// Architecture §5.3: on the CPU the engine's log-probs equal the trainer's to the bit, however the rollouts
// were batched, prefilled, preempted, and however the trainer packs them. Tried mutants, both killed: attention
// scale one unit in the last place off in the engine; temperature off by 1e-7 in the engine.
#include <algorithm>

#include "device.h"
#include "engine/engine.h"
#include "rollouts.h"
#include "trainer/trainer.h"

using namespace hone;
using namespace hone::test;
using engine::Engine;
using engine::EngineConfig;
using engine::Request;

namespace {

struct Packed {
  std::vector<int32_t> tokens, cu_seqlens{0};
  std::vector<uint8_t> mask;
  std::vector<float> logprobs, entropies;  // as the engine recorded them, 0 on the prompt

  void add(const Request& r, const Rollout& rollout) {
    tokens.insert(tokens.end(), r.prompt.begin(), r.prompt.end());
    tokens.insert(tokens.end(), rollout.tokens.begin(), rollout.tokens.end());
    mask.resize(mask.size() + r.prompt.size(), 0);
    logprobs.resize(mask.size(), 0.0f), entropies.resize(mask.size(), 0.0f);
    mask.resize(tokens.size(), 1);
    logprobs.insert(logprobs.end(), rollout.logprobs.begin(), rollout.logprobs.end());
    entropies.insert(entropies.end(), rollout.entropies.begin(), rollout.entropies.end());
    cu_seqlens.push_back(int32_t(tokens.size()));
  }
};

struct Case {
  const char* name;
  bool decorated = false;
  int64_t packed_tokens = 4096;
  EngineConfig engine;
  int threads = 1;
  float temperature = 1.0f;
  int requests = 12;
  DType storage = DType::kF32;
  Stream::Backend device = Stream::Backend::kCpu;
  int32_t longest_prompt = 60, least_tokens = 1, most_tokens = 100;
};

/// Generates with the trainer's snapshot, packs, scores, and counts log-probs and entropies that differ.
int64_t differing_bits(const Case& c, int64_t& preemptions) {
  const bool gpu = c.device == Stream::Backend::kCuda;
  const model::ModelConfig model = gpu ? small_gpu_decoder(c.decorated) : small_decoder(c.decorated);
  ThreadPool pool(c.threads);
  trainer::TrainerConfig config;
  config.packed_tokens = c.packed_tokens;
  config.weight_storage = c.storage;
  config.device = c.device;
  trainer::Trainer trainer(model, config, &pool);
  trainer.parameters().initialize(uint64_t(random_int(1, 1 << 30)));
  scale_head(trainer.parameters());
  trainer.parameters_changed();

  EngineConfig engine_options = c.engine;
  engine_options.weight_storage = c.storage;
  engine_options.device = c.device;
  Engine engine(model, engine_options, &pool);
  engine.set_weights(trainer.snapshot());
  std::vector<Request> requests;
  for (int i = 0; i < c.requests; ++i) {
    const auto tokens = int32_t(random_int(c.least_tokens, c.most_tokens));
    requests.push_back(random_request(model, uint64_t(i), c.longest_prompt, tokens));
    requests.back().count = int32_t(random_int(1, 4));
    requests.back().sampling.temperature = c.temperature;
    requests.back().stop_ids = {5};
    engine.submit(requests.back());
  }
  const Rollouts rollouts = drain(engine);
  preemptions = engine.stats().preemptions;
  std::vector<std::pair<uint64_t, int32_t>> order;
  for (const auto& [who, rollout] : rollouts) order.push_back(who);
  std::shuffle(order.begin(), order.end(), hone::test::random());
  Packed packed;
  for (const auto& who : order) packed.add(requests[size_t(who.first)], rollouts.at(who));

  const auto T = int64_t(packed.tokens.size());
  std::vector<float> logprobs = poison(T), entropies = poison(T);
  trainer::TrainingBatch batch;
  batch.tokens = packed.tokens.data(), batch.cu_seqlens = packed.cu_seqlens.data(), batch.mask = packed.mask.data();
  batch.sequences = int64_t(packed.cu_seqlens.size()) - 1;
  batch.step.sequences = batch.sequences;
  batch.step.counted_tokens = std::count(packed.mask.begin(), packed.mask.end(), 1);
  trainer.score(batch, c.temperature, logprobs.data(), entropies.data());
  int64_t differing = 0;
  for (int64_t t = 0; t < T; ++t) {
    if (!packed.mask[size_t(t)]) continue;
    differing += !same_bits(&logprobs[size_t(t)], &packed.logprobs[size_t(t)], 1);
    differing += !same_bits(&entropies[size_t(t)], &packed.entropies[size_t(t)], 1);
  }
  return differing;
}

EngineConfig engine_config(int32_t running, int32_t step_tokens, int32_t pages = 1024) {
  EngineConfig c;
  c.max_running = running, c.step_tokens = step_tokens, c.pages = pages, c.max_context = 200;
  c.run_seed = uint64_t(random_int(0, 1 << 30));
  return c;
}

/// Returns how often a sequence lost its pages.
int64_t expect_equal(const Case& c) {
  int64_t preemptions = 0;
  const int64_t differing = differing_bits(c, preemptions);
  if (differing) report(__FILE__, __LINE__, std::string(c.name) + ": " + std::to_string(differing) + " values differ");
  return preemptions;
}

}  // namespace

TEST(engine_equals_trainer_at_every_batch_size) {
  for (const int32_t running : {1, 2, 3, 7, 8, 17, 32, 64}) {
    expect_equal({.name = "batch size", .engine = engine_config(running, 256)});
  }
}

TEST(engine_equals_trainer_for_any_prefill_split) {
  for (const int32_t rows : {1, 2, 13, 64, 1000}) expect_equal({.name = "split", .engine = engine_config(16, rows)});
}

TEST(engine_equals_trainer_for_any_packing) {
  for (const int64_t budget : {1, 170, 700, 100000}) {
    expect_equal({.name = "packing", .packed_tokens = budget, .engine = engine_config(16, 128)});
  }
}

TEST(engine_equals_trainer_after_preemption) {
  for (const DType storage : {DType::kF32, DType::kBF16}) {
    int64_t preemptions = 0;  // a round whose sequences happen to be short has none
    for (int round = 0; round < 4; ++round) {
      preemptions += expect_equal(
          {.name = "preemption", .engine = engine_config(16, 128, 12), .requests = 16, .storage = storage});
    }
    EXPECT_TRUE(preemptions > 0);
  }
}

TEST(engine_equals_trainer_on_two_threads) {
  for (const int32_t running : {1, 9, 64}) {
    expect_equal({.name = "threads", .engine = engine_config(running, 300), .threads = 2});
  }
}

TEST(engine_equals_trainer_with_query_and_key_norms) {
  expect_equal({.name = "q/k norm", .decorated = true, .engine = engine_config(16, 50)});
}

TEST(engine_equals_trainer_at_other_temperatures) {
  for (const float t : {0.3f, 0.6f, 1.7f}) {
    expect_equal({.name = "temperature", .engine = engine_config(16, 128), .temperature = t});
  }
}

TEST(engine_equals_trainer_with_weights_keys_and_values_of_bf16) {
  expect_equal({.name = "bf16 weights", .engine = engine_config(16, 128), .storage = DType::kBF16});
  expect_equal({.name = "bf16, split", .decorated = true, .engine = engine_config(8, 13), .storage = DType::kBF16});
}

namespace {

/// Few and short: under the fiber shim a token takes milliseconds.
Case on_gpu(const char* name, EngineConfig engine) {
  engine.max_context = 64;
  Case c;
  c.name = name, c.engine = engine, c.device = Stream::Backend::kCuda;
  c.longest_prompt = 20, c.most_tokens = 6, c.requests = 3;
  return c;
}

}  // namespace

TEST(engine_equals_trainer_on_a_gpu_at_every_batch_size_and_split) {
  NEEDS_DEVICE;
  expect_equal(on_gpu("one at a time", engine_config(1, 64)));
  expect_equal(on_gpu("five, split", engine_config(5, 7)));
  auto packed = on_gpu("packed, norms, untied", engine_config(8, 64));
  packed.decorated = true, packed.packed_tokens = 40;
  expect_equal(packed);
}

TEST(engine_equals_trainer_on_a_gpu_after_preemption) {
  NEEDS_DEVICE;
  auto c = on_gpu("preemption", engine_config(6, 32, 4));
  c.temperature = 0.7f, c.least_tokens = c.most_tokens = 16;  // three sequences of two pages or more do not fit four
  int64_t preemptions = 0;  // which stop tokens may spare, but hardly five times
  for (int round = 0; round < 5 && preemptions == 0; ++round) preemptions += expect_equal(c);
  EXPECT_TRUE(preemptions > 0);
}

TEST_MAIN
