// Generates rollouts with a trainer's weights, packs them, scores them with the trainer, and compares log-probs.
#pragma once

#include <algorithm>
#include <cmath>

#include "device.h"
#include "engine/engine.h"
#include "model/routes.h"
#include "rollouts.h"
#include "trainer/trainer.h"

namespace hone::test {

struct Case {
  const char* name;
  model::ModelConfig model = small_decoder();
  int64_t packed_tokens = 4096;
  engine::EngineConfig engine;
  int threads = 1;
  kernels::SamplingParams sampling{};
  int requests = 12;
  DType storage = DType::kF32;
  kernels::Arithmetic arithmetic = kernels::Arithmetic::kF32;
  Stream::Backend device = Stream::Backend::kCpu;
  bool deterministic = true;
  int32_t longest_prompt = 60, least_tokens = 1, most_tokens = 100;
  bool routes = false;  // whether the engine records routes and the trainer uses them
};

inline engine::EngineConfig engine_config(int32_t running, int32_t step_tokens, int32_t pages = 1024) {
  engine::EngineConfig c;
  c.max_running = running, c.step_tokens = step_tokens, c.pages = pages, c.max_context = 200;
  c.run_seed = uint64_t(random_int(0, 1 << 30));
  return c;
}

/// A case on a GPU, with few and short requests, since in the host shim a token takes milliseconds; and in little memory, all of
/// which the shim copies for every kernel that may begin early.
inline Case on_gpu(const char* name, engine::EngineConfig engine) {
  engine.max_context = 64, engine.pages = std::min(engine.pages, 48);
  Case c;
  c.packed_tokens = 64;
  c.name = name, c.model = small_gpu_decoder(), c.engine = engine, c.device = Stream::Backend::kCuda;
  c.longest_prompt = 20, c.most_tokens = 6, c.requests = 3;
  return c;
}

struct Packed {
  std::vector<int32_t> tokens, cu_seqlens{0};
  std::vector<uint8_t> mask;
  std::vector<float> logprobs, entropies;  // as the engine recorded them; 0 for prompt tokens
  // as the engine recorded them, except for a sequence's last row; empty if not recorded
  std::vector<uint8_t> routes;

  void add(const engine::Request& r, const Rollout& rollout) {
    tokens.insert(tokens.end(), r.prompt.begin(), r.prompt.end());
    tokens.insert(tokens.end(), rollout.tokens.begin(), rollout.tokens.end());
    mask.resize(mask.size() + r.prompt.size(), 0);
    logprobs.resize(mask.size(), 0.0f), entropies.resize(mask.size(), 0.0f);
    mask.resize(tokens.size(), 1);
    logprobs.insert(logprobs.end(), rollout.logprobs.begin(), rollout.logprobs.end());
    entropies.insert(entropies.end(), rollout.entropies.begin(), rollout.entropies.end());
    const size_t rows = r.prompt.size() + rollout.tokens.size() - 1;
    EXPECT_EQ(rollout.routes.size() % rows, size_t(0));
    routes.insert(routes.end(), rollout.routes.begin(), rollout.routes.end());
    routes.insert(routes.end(), rollout.routes.size() / rows, model::kNoRoute);
    cu_seqlens.push_back(int32_t(tokens.size()));
  }
  trainer::TrainingBatch view() const {
    trainer::TrainingBatch batch;
    batch.tokens = tokens.data(), batch.cu_seqlens = cu_seqlens.data(), batch.mask = mask.data();
    batch.sequences = int64_t(cu_seqlens.size()) - 1;
    batch.step.sequences = batch.sequences;
    batch.step.counted_tokens = std::count(mask.begin(), mask.end(), 1);
    batch.step.groups = 1, batch.step.dr_grpo = 1;
    if (!routes.empty()) batch.routes = routes.data(), batch.route_bytes = int64_t(routes.size() / tokens.size());
    return batch;
  }
};

/// Samples rollouts of random requests, and packs them in random order.
inline Packed generate(const Case& c, std::shared_ptr<const model::WeightSnapshot> weights, ThreadPool* pool,
                       int64_t& preemptions) {
  engine::EngineConfig options = c.engine;
  options.weight_storage = c.storage;
  options.arithmetic = c.arithmetic;
  options.device = c.device;
  options.routes = c.routes;
  engine::Engine engine(c.model, options, pool);
  engine.set_weights(std::move(weights));
  std::vector<engine::Request> requests;
  for (int i = 0; i < c.requests; ++i) {
    const auto tokens = int32_t(random_int(c.least_tokens, c.most_tokens));
    requests.push_back(random_request(c.model, uint64_t(i), c.longest_prompt, tokens));
    requests.back().count = int32_t(random_int(1, 4));
    requests.back().sampling = c.sampling;
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
  return packed;
}

/// How much the log-probs of engine and trainer differ, and other counts of the run.
struct Comparison {
  int64_t tokens = 0, differing = 0;  // number of log-probs and entropies whose bits differ
  double squares = 0, largest = 0;    // sum of squares, and maximum, of the differences of log-probs, in nats
  int64_t preemptions = 0;            // how often a sequence lost its pages

  void add(float a, float b) {
    const double gap = std::fabs(double(a) - double(b));
    ++tokens;
    differing += !same_bits(&a, &b, 1);
    squares += gap * gap;
    if (!(gap <= largest)) largest = gap;
  }
  double rms() const { return std::sqrt(squares / double(std::max<int64_t>(tokens, 1))); }
};

inline trainer::TrainerConfig trainer_config(const Case& c) {
  trainer::TrainerConfig config;
  config.packed_tokens = c.packed_tokens;
  config.weight_storage = c.storage;
  config.arithmetic = c.arithmetic;
  config.device = c.device;
  config.deterministic = c.deterministic;
  return config;
}

inline Comparison compare(const Case& c) {
  ThreadPool pool(c.threads);
  trainer::Trainer trainer(c.model, trainer_config(c), &pool);
  trainer.parameters().initialize(uint64_t(random_int(1, 1 << 30)));
  scale_head(trainer.parameters());
  trainer.parameters_changed();
  Comparison out;
  const Packed packed = generate(c, trainer.snapshot(), &pool, out.preemptions);

  const auto T = int64_t(packed.tokens.size());
  std::vector<float> logprobs = poison(T), entropies = poison(T);
  // the log-probs of greedy sampling are those at temperature 1
  const float temperature = c.sampling.temperature > 0 ? c.sampling.temperature : 1.0f;
  trainer.score(packed.view(), temperature, logprobs.data(), entropies.data());
  for (size_t t = 0; t < size_t(T); ++t) {
    if (!packed.mask[t]) continue;
    out.add(logprobs[t], packed.logprobs[t]);
    out.differing += !same_bits(&entropies[t], &packed.entropies[t], 1);
  }
  return out;
}

/// Expects engine and trainer to agree in every bit. Returns how often a sequence lost its KV pages.
inline int64_t expect_equal(const Case& c) {
  const Comparison found = compare(c);
  if (found.differing) report(__FILE__, __LINE__, std::string(c.name) + ": " + std::to_string(found.differing) + " values differ");
  return found.preemptions;
}

}  // namespace hone::test
