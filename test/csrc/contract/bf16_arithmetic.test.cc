// Training steps in bf16 arithmetic: AVX512-BF16's instruction and its emulation on AVX-512 and AVX2 give the
// same bits, and gradients differ from those in f32 by as much as rounding factors to 8 bits explains.
#include <cmath>
#include <vector>

#include "../kernels/each_isa.h"
#include "architectures.h"
#include "check.h"
#include "cuda_trainer.h"
#include "engine/engine.h"
#include "rollouts.h"

namespace contract_bf16_arithmetic_test {
namespace {

using namespace hone;
using kernels::Arithmetic;
using test::Batch;

struct Steps {
  std::vector<float> parameters, gradients, logprobs;  // gradients are those of the first step
};

Steps train(const model::ModelConfig& model, Arithmetic arithmetic, const Batch& given) {
  trainer::TrainerConfig config;
  config.packed_tokens = 14, config.weight_storage = DType::kBF16, config.arithmetic = arithmetic;
  trainer::Trainer trainer(model, config, nullptr);
  trainer.parameters().initialize(7);
  test::scale_head(trainer.parameters());
  trainer.parameters_changed();
  Batch batch = given;
  batch.behavior.assign(batch.tokens.size(), 0.0f);
  std::vector<float> entropies(batch.tokens.size());
  trainer.score(batch.view(), 1.0f, batch.behavior.data(), entropies.data());
  trainer::StepOptions o;
  o.lr = 1e-2f, o.clip_low = o.clip_high = 0.5f;
  Steps out;
  for (int s = 0; s < 2; ++s) {
    out.logprobs = trainer.step(batch.view(), o).logprobs;
    if (s == 0) out.gradients = test::values(trainer.gradients(), trainer.gradients().flat());
  }
  out.parameters = test::values(trainer.parameters(), trainer.parameters().flat());
  return out;
}

bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && test::same_bits(a.data(), b.data(), int64_t(a.size()));
}

/// Relative distance |a - b| / |b|.
double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double apart = 0, length = 0;
  for (size_t i = 0; i < a.size(); ++i) apart += std::pow(double(a[i]) - b[i], 2), length += std::pow(double(b[i]), 2);
  return std::sqrt(apart / length);
}

}  // namespace

TEST(a_step_in_bf16_arithmetic_has_the_same_bits_on_every_vector_set) {
  using kernels::cpu::Isa;
  for (const auto& [name, model] : test::switch_configs()) {
    const Batch batch = test::some_batch(model);
    std::vector<Steps> found;
    test::on_sets({Isa::kAvx2, Isa::kAvx512, Isa::kAvx512Bf16, Isa::kNeon}, [&] { found.push_back(train(model, Arithmetic::kBF16, batch)); });
    for (const Steps& steps : found) {
      const bool equal = same(steps.parameters, found[0].parameters) && same(steps.gradients, found[0].gradients) &&
                         same(steps.logprobs, found[0].logprobs);
      if (!equal) test::report(__FILE__, __LINE__, std::string(name) + ": other bits on another instruction set");
    }
  }
}

TEST(gradients_in_bf16_arithmetic_are_those_in_f32_but_for_the_rounding_of_factors) {
  for (const auto& [name, model] : test::switch_configs()) {
    const Batch batch = test::some_batch(model);
    const Steps narrow = train(model, Arithmetic::kBF16, batch), wide = train(model, Arithmetic::kF32, batch);
    // A factor has a random relative error of at most 2^-9, and layers with several products have a few times
    // that. The largest, 0.052, is that of experts with a clamped SwiGLU.
    const double gap = distance(narrow.gradients, wide.gradients);
    if (!(gap > 1e-4 && gap < 0.06)) test::report(__FILE__, __LINE__, std::string(name) + ": gradients are apart by " + std::to_string(gap));
  }
}

TEST(an_engine_refuses_weights_of_another_arithmetic) {
  const model::ModelConfig config = test::small_decoder();
  const model::Parameters parameters(config);
  engine::EngineConfig c;
  c.max_context = 64, c.arithmetic = Arithmetic::kBF16;
  EXPECT_THROWS(engine::Engine(config, c, nullptr), Code::kConfig);
  c.weight_storage = DType::kBF16;
  engine::Engine engine(config, c, nullptr);
  EXPECT_THROWS(engine.set_weights(model::WeightSnapshot::make({}, parameters, 1, DType::kBF16)), Code::kConfig);
  engine.set_weights(model::WeightSnapshot::make({}, parameters, 1, DType::kBF16, {}, Arithmetic::kBF16));
}

}  // namespace contract_bf16_arithmetic_test
