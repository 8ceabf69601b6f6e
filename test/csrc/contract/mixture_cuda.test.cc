// Mixtures of experts on a GPU, or in the host shim: the engine's log-probs are the trainer's to the bit, and gradients are the CPU's
// within the rounding of bf16. What only the CPU does with them is refused.
#include "architectures.h"
#include "cuda_gradients.h"
#include "engine_trainer.h"

namespace contract_mixture_cuda_test {

using namespace hone;
using namespace hone::test;

namespace {

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

TEST(adapters_of_experts_are_refused) {
  NEEDS_DEVICE;
  TrainerConfig config;
  config.device = kCuda, config.adapters = {8, 16.0f, {"q_proj", "experts"}, 5};
  EXPECT_THROWS(Trainer(architecture_config("qwen3_moe"), config, nullptr), Code::kUnsupported);
}

}  // namespace contract_mixture_cuda_test
