// Models with layers of gated DeltaNet, Mamba-2 or short convolution, whose recurrent states the engine stores besides
// its KV pages. Tests that the engine's log-probs equal the trainer's to the bit, however rollouts were
// batched, prefilled, preempted and packed; attempts that share a prompt; replaying a recorded run; and what
// such models do not support. Scores and gradients are compared with transformers in
// published_models.test.cc.
#include "../kernels/each_isa.h"
#include "architectures.h"
#include "engine_trainer.h"
#include "model/network.h"
#include "trainer/memory.h"

namespace contract_hybrid_test {

using namespace hone;
using namespace hone::test;

namespace {

Case some_case(const char* name, engine::EngineConfig engine, bool attention_last = true) {
  return {.name = name, .model = hybrid_config(attention_last), .engine = engine};
}

/// The attempt as the engine samples it if nothing else runs, and if its prompt is not shared.
Rollout alone(const model::ModelConfig& model, std::shared_ptr<const model::WeightSnapshot> weights, engine::Request request, int32_t attempt,
              uint64_t seed) {
  engine::EngineConfig config = engine_config(1, 1);
  config.run_seed = seed;
  request.count = 1, request.first_attempt += uint32_t(attempt);
  engine::Engine engine(model, config, nullptr);
  engine.set_weights(std::move(weights));
  engine.submit(request);
  return drain(engine).begin()->second;
}

}  // namespace

TEST(a_hybrids_engine_equals_its_trainer_at_every_batch_size_split_and_packing) {
  each_isa([] {
    for (const int32_t running : {1, 7, 64}) expect_equal(some_case("batch size", engine_config(running, 256)));
    for (const int32_t rows : {1, 3, 13, 1000}) expect_equal(some_case("split", engine_config(16, rows), false));
    for (const int64_t budget : {1, 170, 100000}) {
      Case c = some_case("packing", engine_config(16, 128));
      c.packed_tokens = budget, c.threads = 2;
      expect_equal(c);
    }
  });
}

TEST(a_hybrid_with_experts_has_equal_log_probs_in_engine_and_trainer) {
  for (const int32_t pages : {12, 256}) {
    Case c = some_case("experts", engine_config(16, 128, pages));
    c.model = hybrid_mixture_config(pages == 12);
    c.requests = 12, c.threads = 2;
    expect_equal(c);
  }
}

TEST(a_hybrids_engine_equals_its_trainer_after_preemption_in_every_storage) {
  int64_t preemptions = 0;
  for (const DType storage : {DType::kF32, DType::kBF16}) {
    for (const auto arithmetic : {kernels::Arithmetic::kF32, kernels::Arithmetic::kBF16}) {
      if (arithmetic == kernels::Arithmetic::kBF16 && storage == DType::kF32) continue;
      for (int round = 0; round < 3; ++round) {
        Case c = some_case("preemption", engine_config(16, 128, 12), round % 2 == 0);
        c.requests = 16, c.storage = storage, c.arithmetic = arithmetic, c.threads = 1 + round % 2;
        preemptions += expect_equal(c);
      }
    }
  }
  EXPECT_TRUE(preemptions > 0);
}

namespace {

/// Compares engine and trainer in every storage, for several splits and packings; returns the number of preemptions.
int64_t expect_equal_at_every_split(const char* name, const model::ModelConfig& model) {
  int64_t preemptions = 0;
  for (const DType storage : {DType::kF32, DType::kBF16}) {
    for (const int32_t rows : {1, 3, 13, 1000}) {
      for (const int64_t budget : {1, 170, 100000}) {
        Case c = some_case(name, engine_config(rows == 3 ? 64 : 16, rows, rows == 1 ? 256 : 12));
        c.model = model, c.storage = storage, c.packed_tokens = budget, c.requests = 12, c.threads = 1 + int(budget == 170);
        preemptions += expect_equal(c);
      }
    }
  }
  return preemptions;
}

}  // namespace

TEST(a_model_with_short_convolutions_has_equal_log_probs_in_engine_and_trainer) {
  EXPECT_TRUE(expect_equal_at_every_split("convolution", convolution_config()) > 0);
}

TEST(a_model_with_mamba_has_equal_log_probs_in_engine_and_trainer) {
  EXPECT_TRUE(expect_equal_at_every_split("Mamba-2", mamba_config()) > 0);
  each_isa([] {
    for (const bool experts : {false, true}) {
      Case c = some_case(experts ? "Mamba-2 and experts" : "Mamba-2", engine_config(16, 13, 12));
      c.model = mamba_config(experts), c.requests = 12, c.threads = 2;
      expect_equal(c);
    }
  });
}

TEST(a_model_with_mamba_beside_attention_has_equal_log_probs_in_engine_and_trainer) {
  EXPECT_TRUE(expect_equal_at_every_split("Mamba-2 beside attention", beside_config()) > 0);
  each_isa([] {
    Case c = some_case("Mamba-2 beside attention", engine_config(16, 13, 12));
    c.model = beside_config(true), c.requests = 12, c.threads = 2;
    expect_equal(c);
  });
}

TEST(a_model_whose_layers_have_one_half_each_has_equal_log_probs_in_engine_and_trainer) {
  EXPECT_TRUE(expect_equal_at_every_split("one half a layer", halves_config()) > 0);
  each_isa([] {
    Case c = some_case("one half a layer, experts", engine_config(16, 13, 12));
    c.model = halves_config(true), c.requests = 12, c.threads = 2;
    expect_equal(c);
  });
}

namespace {

void share_prompts(const model::ModelConfig& model) {
  const auto weights = random_weights(model, 3, 1);
  engine::EngineConfig config = engine_config(3, 40, 14);  // fewer slots than attempts, and few pages
  engine::Engine engine(model, config, nullptr);
  engine.set_weights(weights);
  std::vector<engine::Request> requests;
  for (uint64_t id = 0; id < 6; ++id) {
    requests.push_back(random_request(model, id, 40, 30));
    requests.back().count = 5;
    engine.submit(requests.back());
  }
  engine::StepOutput step;
  Rollouts all;
  for (int i = 0; i < 12; ++i) engine.step(step), gather(step, all);
  // one attempt that has begun and one that has not; no other attempt may get their states
  for (const int32_t attempt : {0, 4}) engine.abort(2, attempt);
  while (engine.step(step)) gather(step, all);
  for (const engine::Request& r : requests) {
    for (int32_t a = 0; a < r.count; ++a) {
      if (all.at({r.id, a}).finish == engine::Finish::kAbort) continue;
      EXPECT_TRUE(same_rollout(all.at({r.id, a}), alone(model, weights, r, a, config.run_seed)));
    }
  }
  EXPECT_EQ(engine.stats().pages_used, int64_t(0));
}

void replay_a_recorded_run(const model::ModelConfig& model) {
  std::vector<std::shared_ptr<const model::WeightSnapshot>> versions;
  for (uint32_t v = 1; v <= 5; ++v) versions.push_back(random_weights(model, v, v));
  std::vector<engine::Request> requests;
  for (uint64_t id = 0; id < 8; ++id) {
    requests.push_back(random_request(model, id, 30, 40));
    requests.back().count = int32_t(random_int(1, 3));
  }
  engine::EngineConfig config = engine_config(32, 64);
  engine::Engine recorder(model, config, nullptr);
  Rollouts recorded;
  engine::StepOutput step;
  for (const engine::Request& r : requests) recorder.submit(r);
  for (const auto& w : versions) {
    recorder.set_weights(w);
    for (int64_t n = random_int(2, 8); n > 0; --n) recorder.step(step), gather(step, recorded);
  }
  while (recorder.step(step)) gather(step, recorded);

  config.max_running = 3, config.step_tokens = 7, config.pages = 24;
  engine::Engine player(model, config, nullptr);
  for (const auto& w : versions) player.set_weights(w);
  int64_t mixed = 0;
  for (engine::Request r : requests) {
    for (int32_t a = 0; a < r.count; ++a) {
      std::vector<engine::VersionRun> runs;
      const auto& stamps = recorded.at({r.id, a}).versions;
      for (size_t i = 0; i < stamps.size(); ++i) {
        if (runs.empty() || runs.back().version != stamps[i]) runs.push_back({int32_t(i), stamps[i]});
      }
      mixed += runs.size() > 1;
      r.plan.push_back(runs);
    }
    player.submit(r);
  }
  const Rollouts replayed = drain(player);
  EXPECT_TRUE(mixed > 0);
  for (const auto& [who, rollout] : recorded) EXPECT_TRUE(same_rollout(rollout, replayed.at(who)));
}

}  // namespace

TEST(attempts_that_share_a_prompt_begin_with_its_state) {
  for (const model::ModelConfig& model : {hybrid_config(), convolution_config(), mamba_config(), beside_config(), halves_config(true)}) share_prompts(model);
}

TEST(a_hybrids_recorded_run_replays_to_the_bit_under_weights_that_changed_in_flight) {
  for (const model::ModelConfig& model : {hybrid_config(), convolution_config(), mamba_config(), beside_config(), halves_config()}) replay_a_recorded_run(model);
}

TEST(steps_take_the_memory_that_they_are_said_to_take) {
  for (const model::ModelConfig& model : {hybrid_config(), hybrid_config(false), convolution_config(), mamba_config(), mamba_config(true), beside_config(), beside_config(true), halves_config(), halves_config(true)}) {
    for (const int mode : {0, 1, 2, 3}) {
      trainer::TrainerConfig config;
      config.packed_tokens = 40, config.recompute = mode % 2 == 1;
      if (mode >= 2) config.adapters = {4, 8.0f, {model.mixes() ? "experts" : "all-linear"}, 1};
      const std::vector<int32_t> tokens(40, 3), starts{0, 25, 40};
      std::vector<uint8_t> mask(40, 1);
      mask[0] = mask[25] = 0;
      const int64_t before = Arena::live_bytes(Memory::kHost);
      trainer::Trainer made(model, config, nullptr);
      trainer::TrainingBatch batch;
      batch.tokens = tokens.data(), batch.cu_seqlens = starts.data(), batch.mask = mask.data(), batch.sequences = 2;
      batch.step.sequences = 2, batch.step.counted_tokens = 38;
      trainer::StepOptions options;
      options.objective = kernels::Objective::kSupervised;
      made.step(batch, options);
      const auto snapshot = model::snapshot_bytes({}, model, config.weight_storage);
      EXPECT_EQ(Arena::live_bytes(Memory::kHost) - before, trainer::trainer_bytes(model, config, 2, 1).total() + snapshot.tensors() + snapshot.rope_tables);
    }
  }
}

TEST(a_hybrid_is_refused_for_what_it_has_no_kernels_for) {
  model::ModelConfig wide = gpu_hybrid_config();
  wide.delta.key_dim = 136;
  for (const model::ModelConfig& model : {mamba_config(), beside_config(), halves_config(), wide}) EXPECT_THROWS(model::check_for_gpu(model), Code::kUnsupported);
  for (const model::ModelConfig& model : {hybrid_config(), mamba_config(), beside_config(), halves_config()}) {
    trainer::TrainerConfig sharded;
    sharded.sharding.stage = trainer::Sharding::Stage::kOptimizer;
    EXPECT_THROWS(trainer::Trainer(model, sharded, nullptr), Code::kUnsupported);
    EXPECT_THROWS(trainer::trainer_bytes(model, sharded, 1, 1, {0, 2}), Code::kUnsupported);
  }
}

TEST(weights_of_other_kinds_of_layers_are_refused) {
  engine::Engine engine(hybrid_config(), engine_config(4, 16), nullptr);
  model::ModelConfig other = hybrid_config();
  other.linear_layers = {true, false, false};
  EXPECT_THROWS(engine.set_weights(random_weights(other, 1, 1)), Code::kConfig);
}

}  // namespace contract_hybrid_test
