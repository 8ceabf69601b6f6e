// Recomputing activations in the backward: after some steps every weight, gradient and result has the bits
// that storing all activations gives, for every architecture, storage dtype and device. Mutation tests:
// test/mutants/csrc-model.json.
#include <vector>

#include "architectures.h"
#include "check.h"
#include "cuda_trainer.h"
#include "device.h"

namespace contract_recompute_test {
namespace {

using namespace hone;
using test::Batch;
using trainer::Trainer;
using trainer::TrainerConfig;

struct Steps {
  std::vector<float> parameters, gradients, logprobs;
  double loss = 0;
};

/// Trains some gspo steps with an entropy term, the first one on-policy; one micro-batch is longer than
/// planned.
Steps train(const model::ModelConfig& model, TrainerConfig config, const Batch& given, int steps) {
  config.packed_tokens = 14;
  Trainer trainer(model, config, nullptr);
  trainer.parameters().initialize(7);
  test::scale_head(trainer.parameters());
  trainer.parameters_changed();
  Batch batch = given;
  batch.behavior.assign(batch.tokens.size(), 0.0f);
  std::vector<float> entropies(batch.tokens.size());
  trainer.score(batch.view(), 1.0f, batch.behavior.data(), entropies.data());
  trainer::StepOptions o;
  o.entropy_coef = 0.01f, o.lr = 1e-2f, o.clip_low = o.clip_high = 0.5f;
  Steps out;
  for (int s = 0; s < steps; ++s) {
    const trainer::StepReport report = trainer.step(batch.view(), o);
    out.logprobs = report.logprobs, out.loss = report.loss;
  }
  out.parameters = test::values(trainer.parameters(), trainer.parameters().flat());
  out.gradients = test::values(trainer.gradients(), trainer.gradients().flat());
  return out;
}

void compare(const std::string& name, const model::ModelConfig& model, TrainerConfig config, int steps) {
  Batch batch = test::some_batch(model);
  batch.add(std::vector<int32_t>(17, 3), 2, 0.5f, 1);
  const Steps kept = train(model, config, batch, steps);
  config.recompute = true;
  const Steps again = train(model, config, batch, steps);
  const auto same = [](const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && test::same_bits(a.data(), b.data(), int64_t(a.size()));
  };
  const bool equal = kept.loss == again.loss && same(kept.parameters, again.parameters) &&
                     same(kept.gradients, again.gradients) && same(kept.logprobs, again.logprobs);
  if (!equal) test::report(__FILE__, __LINE__, name + ": other bits with activations computed again");
  EXPECT_TRUE(std::isfinite(kept.loss) && kept.loss != 0.0);
}

TEST(the_cpu_computes_the_same_bits_again) {
  for (const DType storage : {DType::kF32, DType::kBF16}) {
    TrainerConfig config;
    config.weight_storage = storage;
    for (const auto& [name, model] : test::switch_configs()) compare(name, model, config, 2);
    for (const auto& [name, model] : test::architecture_configs()) compare(name, model, config, 2);
    for (const bool attention_last : {true, false}) compare("hybrid", test::hybrid_config(attention_last), config, 2);
    for (const bool by_head : {true, false}) compare("hybrid with experts", test::hybrid_mixture_config(by_head), config, 2);
  }
}

TEST(the_cpu_computes_the_same_bits_again_in_bf16_arithmetic) {
  TrainerConfig config;
  config.weight_storage = DType::kBF16, config.arithmetic = kernels::Arithmetic::kBF16;
  for (const auto& [name, model] : test::switch_configs()) compare(name, model, config, 2);
}

TEST(a_gpu_computes_the_same_bits_again) {
  NEEDS_DEVICE;
  TrainerConfig config;
  config.device = test::kCuda;
  for (const auto& [name, model] : test::architecture_configs()) {
    // few architectures, since a step takes seconds in the shim
    if (name == "phi3" || name == "gemma3_text") compare(name, model, config, 1);
  }
}

}  // namespace
}  // namespace contract_recompute_test
