// Mixtures of experts on a GPU, or in the host shim: the engine's log-probs are the trainer's to the bit, and gradients are the CPU's
// within the rounding of bf16. What only the CPU does with them is refused.
#include "architectures.h"
#include "cuda_gradients.h"
#include "engine_trainer.h"
#ifdef HONE_CUDA_SHIM
#include "shim/hopper.h"
#endif

namespace contract_mixture_cuda_test {

using namespace hone;
using namespace hone::test;

namespace {

#ifdef HONE_CUDA_SHIM
// On a Hopper sums of wgmma then differ from those of mma.sync: engine and trainer must multiply by the same one.
TEST_SETUP { cuda_shim::truncate_products(true); }
#endif

std::vector<std::pair<std::string, model::ModelConfig>> mixtures() {
  auto out = architecture_configs();
  std::erase_if(out, [](const auto& row) { return !row.second.mixes(); });
  return out;
}

}  // namespace

TEST(engine_equals_trainer_for_every_mixture_at_every_batch_size_with_and_without_graphs) {
  NEEDS_DEVICE;
  for (const auto& [name, model] : mixtures()) {
    Case c = on_gpu(name.c_str(), engine_config(5, 7));
    c.model = model, c.requests = 2;
    expect_equal(c);
  }
  for (const bool graphs : {true, false}) {
    Case c = on_gpu("one at a time", engine_config(1, 64));
    c.model = architecture_config("glm4_moe"), c.requests = 2, c.engine.graphs = graphs;
    expect_equal(c);
  }
}

TEST(gradients_of_mixtures_are_the_cpus_within_the_rounding_of_bf16) {
  NEEDS_DEVICE;
  for (const auto& [name, model] : mixtures()) expect_gradients_of_the_cpu(name, model);
}

TEST(routes_are_neither_recorded_nor_replayed) {
  NEEDS_DEVICE;
  const ModelConfig model = architecture_config("qwen3_moe");
  engine::EngineConfig recording = engine_config(5, 7);
  recording.device = kCuda, recording.routes = true, recording.max_context = 64;
  EXPECT_THROWS(engine::Engine(model, recording, nullptr), Code::kUnsupported);
  const Batch batch = some_batch(model);
  const std::vector<uint8_t> routes(batch.tokens.size() * size_t(model::route_bytes(model)), model::kNoRoute);
  trainer::TrainingBatch routed = batch.view();
  routed.routes = routes.data(), routed.route_bytes = model::route_bytes(model);
  trainer::StepOptions o;
  o.objective = kernels::Objective::kSupervised;
  EXPECT_THROWS(make_trainer(model, 1)->step(routed, o), Code::kUnsupported);
}

namespace {

/// A trainer of adapters of experts whose B is not 0, on a base rounded to bf16.
std::unique_ptr<Trainer> adapting(const ModelConfig& model, Stream::Backend device, uint64_t seed) {
  TrainerConfig config;
  config.packed_tokens = 14, config.optimizer.gradient_clip = 0.0f, config.deterministic = true;
  config.device = device, config.adapters = {8, 16.0f, {"v_proj", "experts"}, 5};
  auto trainer = std::make_unique<Trainer>(model, config, nullptr);
  trainer->parameters().initialize(seed);
  scale_head(trainer->parameters());
  round_to_bf16(trainer->parameters());
  for (const model::TensorSpec& spec : trainer->trained().specs()) {
    if (!spec.name.ends_with("lora_B.weight")) continue;
    trainer->trained().write(trainer->trained().view(spec), [&](const TensorView& host) {
      for (int64_t i = 0; i < spec.numel(); ++i) host.as<float>()[i] = 0.02f * std::sin(float(7 * i + 1));
    });
  }
  trainer->parameters_changed();
  return trainer;
}

/// False if rows went to other experts than on the CPU; then nothing was compared.
bool compare_adapters(const ModelConfig& model, uint64_t seed) {
  const auto gpu = adapting(model, kCuda, seed), cpu = adapting(model, Stream::Backend::kCpu, seed);
  const Batch batch = some_batch(model);
  trainer::StepOptions o;
  o.objective = kernels::Objective::kSupervised;
  const trainer::StepReport a = gpu->step(batch.view(), o), b = cpu->step(batch.view(), o);
  if (a.expert_rows != b.expert_rows) return false;
  for (const model::TensorSpec& spec : gpu->gradients().specs()) {
    std::vector<float> x = values(gpu->gradients(), gpu->gradients().view(spec));
    const std::vector<float> y = values(cpu->gradients(), cpu->gradients().view(spec));
    for (size_t i = 0; i < x.size(); ++i) x[i] -= y[i];
    EXPECT_TRUE(norm(y) > 0);
    if (norm(x) <= 0.036 * norm(y) + 1e-4 * b.grad_norm) continue;
    report(__FILE__, __LINE__, model.arch + ": " + spec.name + " is off by " + show(norm(x)) + " of " + show(norm(y)));
  }
  return true;
}

}  // namespace

TEST(gradients_of_experts_adapters_are_the_cpus_within_the_rounding_of_bf16) {
  NEEDS_DEVICE;
  for (const char* const type : {"qwen3_moe", "gpt_oss"}) {  // whose experts' matrices are stored one way and the other
    bool compared = false;
    for (uint64_t seed = 3; seed < 11 && !compared; ++seed) compared = compare_adapters(architecture_config(type), seed);
    EXPECT_TRUE(compared);
  }
}

TEST(engine_equals_trainer_after_steps_of_experts_adapters) {
  NEEDS_DEVICE;
  for (const char* const type : {"qwen3_moe", "gpt_oss"}) {
    Case c = on_gpu(type, engine_config(5, 7));
    c.model = architecture_config(type), c.requests = 2;
    const auto trainer = adapting(c.model, kCuda, 3);
    trainer::StepOptions o;
    o.objective = kernels::Objective::kSupervised, o.lr = 0.01f;
    for (int step = 0; step < 2; ++step) EXPECT_TRUE(trainer->step(some_batch(c.model).view(), o).update_norm > 0);
    int64_t preemptions = 0;
    const Packed packed = generate(c, trainer->snapshot(), nullptr, preemptions);
    std::vector<float> logprobs(packed.tokens.size()), entropies(packed.tokens.size());
    trainer->score(packed.view(), 1.0f, logprobs.data(), entropies.data());
    for (size_t t = 0; t < packed.tokens.size(); ++t) {
      if (packed.mask[t]) EXPECT_TRUE(same_bits(&logprobs[t], &packed.logprobs[t], 1));
    }
  }
}

}  // namespace contract_mixture_cuda_test
