// Models with layers of gated DeltaNet or short convolution on a GPU, or in the host shim: the engine's log-probs are the trainer's
// to the bit, however rollouts were batched, prefilled, preempted and recorded; attempts that share a prompt; and gradients are the
// CPU's within the rounding of bf16.
#include <algorithm>
#include <cmath>

#include "architectures.h"
#include "core/device.h"
#include "cuda_gradients.h"
#include "engine/memory.h"
#include "engine_trainer.h"
#include "trainer/memory.h"

namespace contract_hybrid_cuda_test {

using namespace hone;
using namespace hone::test;

namespace {

/// With the width of Qwen3.5's heads, of which a quarter is rotated.
model::ModelConfig wide_heads() {
  model::ModelConfig c = gpu_hybrid_config();
  c.head_dim = 256, c.rope.partial = 0.25;
  return c;
}

std::vector<std::pair<std::string, model::ModelConfig>> hybrids() {
  return {{"DeltaNet", gpu_hybrid_config()},
          {"DeltaNet, heads of 256", wide_heads()},
          {"DeltaNet before and after attention", gpu_hybrid_config(false)},
          {"DeltaNet and experts", gpu_hybrid_mixture_config()},
          {"DeltaNet and experts, columns by head", gpu_hybrid_mixture_config(true)},
          {"short convolution", gpu_convolution_config()}};
}

}  // namespace

TEST(engine_equals_trainer_for_every_hybrid_at_every_split_with_and_without_graphs) {
  NEEDS_DEVICE;
  for (const auto& [name, model] : hybrids()) {
    Case c = on_gpu(name.c_str(), engine_config(5, 7));
    c.model = model, c.requests = 2;
    expect_equal(c);
  }
  for (const bool graphs : {true, false}) {
    Case c = on_gpu("one at a time", engine_config(1, 64));
    c.model = gpu_hybrid_config(), c.engine.graphs = graphs, c.packed_tokens = 20;
    expect_equal(c);
  }
}

TEST(engine_equals_trainer_after_preemption) {
  NEEDS_DEVICE;
  Case c = on_gpu("preemption", engine_config(8, 32, 8));
  c.model = gpu_hybrid_config(false), c.requests = 3, c.least_tokens = 25, c.most_tokens = 28;
  EXPECT_TRUE(expect_equal(c) > 0);
}

namespace {

std::shared_ptr<const model::WeightSnapshot> weights_on_device(const Device& device, const model::ModelConfig& model, uint64_t seed, uint32_t version) {
  model::Parameters parameters(model, device.stream());
  parameters.initialize(seed);
  scale_head(parameters);
  return model::WeightSnapshot::make(device.stream(), parameters, version);
}

engine::EngineConfig on_device(int32_t running, int32_t step_tokens, int32_t pages) {
  engine::EngineConfig config = engine_config(running, step_tokens, pages);
  config.device = kCuda, config.max_context = 64, config.run_seed = 7;
  return config;
}

}  // namespace

TEST(attempts_that_share_a_prompt_begin_with_its_state) {
  NEEDS_DEVICE;
  const model::ModelConfig model = gpu_hybrid_config();
  const Device device(kCuda, nullptr);
  const auto weights = weights_on_device(device, model, 3, 1);
  engine::Engine engine(model, on_device(3, 20, 7), nullptr);  // fewer slots than attempts, and few pages
  engine.set_weights(weights);
  std::vector<engine::Request> requests;
  for (uint64_t id = 0; id < 2; ++id) {
    requests.push_back(random_request(model, id, 20, 6));
    requests.back().count = 4;
    engine.submit(requests.back());
  }
  const Rollouts all = drain(engine);
  for (const engine::Request& request : requests) {
    for (int32_t a = 0; a < request.count; ++a) {
      engine::Request alone = request;
      alone.count = 1, alone.first_attempt += uint32_t(a);
      engine::Engine one(model, on_device(1, 64, 16), nullptr);
      one.set_weights(weights);
      one.submit(alone);
      EXPECT_TRUE(same_rollout(all.at({request.id, a}), drain(one).begin()->second));
    }
  }
  EXPECT_EQ(engine.stats().pages_used, int64_t(0));
}

TEST(a_recorded_run_replays_to_the_bit_under_weights_that_changed_in_flight) {
  NEEDS_DEVICE;
  const model::ModelConfig model = gpu_hybrid_config(false);
  const Device device(kCuda, nullptr);
  std::vector<std::shared_ptr<const model::WeightSnapshot>> versions;
  for (uint32_t v = 1; v <= 3; ++v) versions.push_back(weights_on_device(device, model, v, v));
  engine::Engine recorder(model, on_device(8, 32, 64), nullptr);
  std::vector<engine::Request> requests;
  for (uint64_t id = 0; id < 4; ++id) {
    requests.push_back(random_request(model, id, 12, 10));
    requests.back().count = 2;
    recorder.submit(requests.back());
  }
  Rollouts recorded;
  engine::StepOutput step;
  for (const auto& w : versions) {
    recorder.set_weights(w);
    for (int n = 0; n < 4; ++n) recorder.step(step), gather(step, recorded);
  }
  while (recorder.step(step)) gather(step, recorded);
  // One attempt computes at a time: those that wait for a version outnumber the slots of recurrent states, and are saved.
  engine::Engine player(model, on_device(1, 7, 64), nullptr);
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
  EXPECT_TRUE(mixed > 2);
  for (const auto& [who, rollout] : recorded) EXPECT_TRUE(same_rollout(rollout, replayed.at(who)));
}

TEST(gradients_are_the_cpus_within_the_rounding_of_bf16) {
  NEEDS_DEVICE;
  for (auto& [name, model] : hybrids()) {
    if (!model.delta.is_convolution()) model.layers = 2, model.linear_layers = {true, false};
    expect_gradients_of_the_cpu(name, model, 3.0);
  }
}

TEST(gradients_of_adapters_are_the_cpus_within_the_rounding_of_bf16) {
  NEEDS_DEVICE;
  const model::ModelConfig model = gpu_hybrid_config();
  std::vector<std::unique_ptr<Trainer>> trainers;
  std::vector<trainer::StepReport> reports;
  Batch batch = some_batch(model);
  batch.behavior.assign(batch.tokens.size(), -4.0f);
  for (const auto device : {kCuda, Stream::Backend::kCpu}) {
    TrainerConfig config;
    config.packed_tokens = 14, config.device = device, config.optimizer.gradient_clip = 0.0f, config.weight_storage = DType::kBF16;
    config.adapters = {8, 16.0f, {"all-linear"}, 5};
    trainers.push_back(std::make_unique<Trainer>(model, config, nullptr));
    trainers.back()->parameters().initialize(3);
    scale_head(trainers.back()->parameters());
    trainers.back()->parameters_changed();
    trainer::StepOptions o;
    o.objective = kernels::Objective::kReinforce, o.lr = 0.0f;
    reports.push_back(trainers.back()->step(batch.view(), o));
  }
  EXPECT_NEAR(reports[0].grad_norm, reports[1].grad_norm, 0.036 * reports[1].grad_norm);
  int64_t compared = 0;
  for (const model::TensorSpec& spec : trainers[0]->gradients().specs()) {
    std::vector<float> x = values(trainers[0]->gradients(), trainers[0]->gradients().view(spec));
    const std::vector<float> y = values(trainers[1]->gradients(), trainers[1]->gradients().view(spec));
    for (size_t i = 0; i < x.size(); ++i) x[i] -= y[i];
    compared += spec.name.find("linear_attn") != std::string::npos && norm(y) > 0;
    if (!(norm(x) <= 0.05 * norm(y) + 1e-3 * reports[1].grad_norm)) report(__FILE__, __LINE__, spec.name + " is off by " + show(norm(x)) + " of " + show(norm(y)));
  }
  EXPECT_TRUE(compared >= 2 * 5);  // B of five matrices in two layers; A's gradient is 0 where B is
}

TEST(steps_take_the_device_memory_that_they_are_said_to_take) {
  NEEDS_DEVICE;
  bool recompute = false;
  for (const auto& [name, model] : hybrids()) {
    for (const int32_t longest : {7, 66}) {  // the longer sequence has a state every 64 rows
      if (longest > 7 && name != "DeltaNet") continue;
      recompute = !recompute;
      const int32_t all = longest + 5;
      TrainerConfig config;
      config.packed_tokens = all, config.recompute = recompute, config.device = kCuda;
      const std::vector<int32_t> tokens(size_t(all), 3), starts{0, longest, all};
      std::vector<uint8_t> mask(size_t(all), 1);
      mask[0] = mask[size_t(longest)] = 0;
      const int64_t before = Arena::live_bytes(Memory::kDevice);
      Trainer made(model, config, nullptr);
      trainer::TrainingBatch batch;
      batch.tokens = tokens.data(), batch.cu_seqlens = starts.data(), batch.mask = mask.data(), batch.sequences = 2;
      batch.step.sequences = 2, batch.step.counted_tokens = all - 2;
      trainer::StepOptions options;
      options.objective = kernels::Objective::kSupervised;
      made.step(batch, options);
      const Stream stream{.backend = kCuda};
      const auto snapshot = model::snapshot_bytes(stream, model, DType::kBF16);
      const int64_t held = Arena::live_bytes(Memory::kDevice) - before, said = trainer::trainer_bytes(model, config, 2, 1).total() + snapshot.tensors() + snapshot.rope_tables;
      if (held > said) report(__FILE__, __LINE__, name + ": " + std::to_string(held) + " bytes are held, " + std::to_string(said) + " were said");
    }
  }
}

TEST(an_engine_takes_the_device_memory_that_it_is_said_to_take) {
  NEEDS_DEVICE;
  const model::ModelConfig model = gpu_hybrid_config();
  const Device device(kCuda, nullptr);
  const auto weights = weights_on_device(device, model, 3, 1);
  const engine::EngineConfig config = on_device(4, 16, 32);
  const int64_t before = Arena::live_bytes(Memory::kDevice);
  engine::Engine made(model, config, nullptr);
  made.set_weights(weights);
  const engine::EngineBytes planned = engine::engine_bytes(model, config, 1);
  const int64_t whole = planned.key_values + planned.scratch + model::snapshot_bytes(device.stream(), model, DType::kBF16).tensors();
  made.submit(random_request(model, 1, 12, 8));
  drain(made);
  const int64_t held = Arena::live_bytes(Memory::kDevice) - before, states = 8 * model.state_floats() * 4;
  EXPECT_TRUE(held <= whole && held > whole - 64 * 1024 && states > 64 * 1024);
}

}  // namespace contract_hybrid_cuda_test
