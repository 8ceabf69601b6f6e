// Routes of a mixture of experts, passed from the engine to the trainer: with the weights that sampled them
// they change no bit of log-probs, loss and gradients, however the rollouts were batched, prefilled,
// preempted and packed; and each row has the routes of the weights that computed it. Faults put into the
// code, each detected: routes of the next row, of another chunk's rows, of a prompt that was abandoned.
#include "architectures.h"
#include "engine_trainer.h"
#include "model/reference.h"

namespace contract_engine_trainer_routes_test {
namespace {

using namespace hone;
using namespace hone::test;

std::vector<std::pair<std::string, model::ModelConfig>> mixtures() {
  std::vector<std::pair<std::string, model::ModelConfig>> out;
  for (auto [name, config] : switch_configs()) {
    config.max_positions = 256;
    if (config.mixes()) out.emplace_back(name, config);
  }
  return out;
}

/// Number of expert choices in a batch's routes: those of every row but a sequence's last; in the last layer
/// only those of loss rows.
int64_t choices(const model::ModelConfig& c, const trainer::TrainingBatch& batch) {
  int64_t n = 0;
  for (int64_t l = 0; l < c.layers; ++l) {
    if (c.mixes(l)) n += l + 1 < c.layers ? batch.cu_seqlens[batch.sequences] - batch.sequences : batch.step.counted_tokens;
  }
  return n;
}

struct Trained {
  trainer::StepReport report;
  std::vector<float> gradients;
};

Trained train(const Case& c, const trainer::TrainerConfig& config, uint64_t seed, const trainer::TrainingBatch& batch) {
  trainer::Trainer trainer(c.model, config, nullptr);
  trainer.parameters().initialize(seed);
  scale_head(trainer.parameters());
  trainer.parameters_changed();
  trainer::StepOptions o;
  o.objective = kernels::Objective::kSupervised;
  o.router = {0.1f, 0.01f};
  Trained out{trainer.step(batch, o), {}};
  const TensorView flat = trainer.gradients().flat();
  out.gradients.assign(flat.as<float>(), flat.as<float>() + flat.numel());
  return out;
}

/// Expects that routes change no result. Returns how often a sequence lost its KV pages.
int64_t expect_no_change(const Case& c, bool recompute = false) {
  ThreadPool pool(c.threads);
  trainer::TrainerConfig config = trainer_config(c);
  config.recompute = recompute;
  const auto seed = uint64_t(random_int(1, 1 << 30));
  trainer::Trainer sampler(c.model, config, &pool);
  sampler.parameters().initialize(seed);
  scale_head(sampler.parameters());
  sampler.parameters_changed();
  int64_t preemptions = 0;
  const Packed packed = generate(c, sampler.snapshot(), &pool, preemptions);
  trainer::TrainingBatch batch = packed.view();
  EXPECT_EQ(batch.route_bytes, model::route_bytes(c.model));
  const Trained given = train(c, config, seed, batch);
  batch.routes = nullptr;
  const Trained own = train(c, config, seed, batch);
  EXPECT_EQ(given.report.routes.given, choices(c.model, batch));
  EXPECT_EQ(given.report.routes.replaced, int64_t(0));
  EXPECT_EQ(own.report.routes.given, int64_t(0));
  EXPECT_EQ(given.report.loss, own.report.loss);
  const auto T = int64_t(packed.tokens.size()), n = int64_t(own.gradients.size());
  EXPECT_TRUE(same_bits(given.report.logprobs.data(), own.report.logprobs.data(), T));
  EXPECT_TRUE(same_bits(given.report.logprobs.data(), packed.logprobs.data(), T));
  EXPECT_TRUE(same_bits(given.gradients.data(), own.gradients.data(), n));
  return preemptions;
}

TEST(routes_of_the_same_weights_change_no_bit) {
  for (const auto& [name, model] : mixtures()) {
    for (const DType storage : {DType::kF32, DType::kBF16}) {
      expect_no_change({.name = name.c_str(), .model = model, .engine = engine_config(16, 50), .requests = 4, .storage = storage, .routes = true});
    }
  }
}

TEST(routes_are_of_their_rows_for_any_batch_prefill_split_packing_and_threads) {
  const model::ModelConfig model = mixtures()[4].second;  // one of its two layers has experts
  for (const auto& [running, rows] : {std::pair{1, 1000}, {3, 2}, {17, 13}, {64, 64}}) {
    for (const int threads : {1, 2}) {
      expect_no_change({.name = "routes", .model = model, .packed_tokens = running == 3 ? 1 : 700, .engine = engine_config(running, rows), .threads = threads, .requests = 6, .routes = true}, threads == 2);
    }
  }
}

TEST(routes_outlast_preemption) {
  int64_t preemptions = 0;
  for (int round = 0; round < 3; ++round) {
    preemptions += expect_no_change({.name = "preemption", .model = mixtures()[0].second, .engine = engine_config(16, 24, 12), .requests = 12, .routes = true});
  }
  EXPECT_TRUE(preemptions > 0);
}

/// The rollouts of ten requests when new weights arrive every few steps; if `stop` is set, no new weights
/// after that many.
Rollouts sampled(const model::ModelConfig& model, const engine::EngineConfig& config, const std::vector<engine::Request>& requests, uint32_t stop) {
  engine::Engine engine(model, config, nullptr);
  for (const engine::Request& r : requests) engine.submit(r);
  Rollouts all;
  engine::StepOutput step;
  for (uint32_t version = 1; version <= stop; ++version) {
    engine.set_weights(random_weights(model, version, version));
    for (int n = 0; n < 9; ++n) engine.step(step), gather(step, all);
  }
  while (engine.step(step)) gather(step, all);
  return all;
}

/// Number of an attempt's rows that weights of `version` computed: those after which a token of that version
/// was sampled.
int64_t rows_of(const engine::Request& r, const Rollout& rollout, uint32_t version) {
  return int64_t(r.prompt.size()) - 1 + std::count(rollout.versions.begin(), rollout.versions.end(), version);
}

TEST(each_row_has_the_routes_of_the_weights_that_computed_it) {
  const model::ModelConfig model = mixtures()[0].second;
  engine::EngineConfig config = engine_config(8, 40);
  config.routes = true;
  std::vector<engine::Request> requests;
  for (uint64_t id = 0; id < 5; ++id) {
    requests.push_back(random_request(model, id, 30, 40));
    requests.back().count = 2;
  }
  const Rollouts changing = sampled(model, config, requests, 4), first = sampled(model, config, requests, 1);
  int64_t same = 0, other = 0;
  for (const auto& [who, rollout] : changing) {
    if (rollout.versions.front() != 1) continue;
    const Rollout& alone = first.at(who);
    const int64_t rows = rows_of(requests[size_t(who.first)], rollout, 1), bytes = model::route_bytes(model);
    EXPECT_TRUE(std::equal(rollout.routes.begin(), rollout.routes.begin() + rows * bytes, alone.routes.begin()));
    const auto common = int64_t(std::min(rollout.routes.size(), alone.routes.size()));
    if (common == rows * bytes) continue;
    ++(std::equal(rollout.routes.begin() + rows * bytes, rollout.routes.begin() + common, alone.routes.begin() + rows * bytes) ? same : other);
  }
  EXPECT_TRUE(other > same && other > 2);

  // samples again by a replay plan, in another engine
  engine::EngineConfig narrow = config;
  narrow.max_running = 3, narrow.step_tokens = 7, narrow.pages = 24;
  engine::Engine player(model, narrow, nullptr);
  for (uint32_t version = 1; version <= 4; ++version) player.set_weights(random_weights(model, version, version));
  for (engine::Request r : requests) {
    for (int32_t a = 0; a < r.count; ++a) {
      std::vector<engine::VersionRun> runs;
      const std::vector<uint32_t>& stamps = changing.at({r.id, a}).versions;
      for (size_t i = 0; i < stamps.size(); ++i) {
        if (runs.empty() || runs.back().version != stamps[i]) runs.push_back({int32_t(i), stamps[i]});
      }
      r.plan.push_back(runs);
    }
    player.submit(r);
  }
  const Rollouts replayed = drain(player);
  for (const auto& [who, rollout] : changing) EXPECT_TRUE(same_rollout(rollout, replayed.at(who)));
}

TEST(an_engine_records_routes_only_where_it_is_told_to_and_there_are_experts) {
  const model::ModelConfig model = mixtures()[0].second;
  const std::vector<engine::Request> requests{random_request(model, 0, 9, 4)};
  EXPECT_TRUE(sampled(model, engine_config(4, 40), requests, 1).at({0, 0}).routes.empty());
  engine::EngineConfig config = engine_config(4, 40);
  config.routes = true;
  EXPECT_THROWS(engine::Engine(small_decoder(), config, nullptr), Code::kConfig);
}

}  // namespace
}  // namespace contract_engine_trainer_routes_test
