// One training step on a GPU, whose gradients are compared with the CPU's.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "cuda_trainer.h"
#include "device.h"

namespace hone::test {

inline double norm(const std::vector<float>& x) {
  double sum = 0;
  for (const float v : x) sum += double(v) * v;
  return std::sqrt(sum);
}

/// Gives biases and sinks, which are zeros at first, other values.
inline void fill_biases(Trainer& trainer) {
  for (const model::TensorSpec& spec : trainer.parameters().specs()) {
    if (!spec.name.ends_with("bias") && !spec.name.ends_with("sinks")) continue;
    trainer.parameters().write(trainer.parameters().view(spec), [](const TensorView& host) {
      for (int64_t i = 0; i < host.numel(); ++i) host.as<float>()[i] = 0.1f * std::sin(float(i + 1));
    });
  }
}

/// Compares one step's gradients with the CPU's, whose parameters are rounded to bf16 like the GPU's packed
/// copies. A tensor's gradient then differs by rounding of activations and their gradients to bf16, 2^-9
/// each, in some 20 successive operations: independent errors give sqrt(20) 2^-9 = 0.9 % of its norm, and
/// never 4 times that. `share`: how many times as far as those of a dense model gradients may be apart. A recurrence multiplies
/// rounding errors: on the CPU, bf16 operands of products alone change the gradients of a hybrid of 3 layers by 1 to 2.5 % of
/// their norms, those of a dense model of 2 layers by 0.5 to 1.4 %.
/// Returns false, having compared nothing, if rows went to other experts than on the CPU.
inline bool compare_gradients_with_the_cpu(const std::string& name, const ModelConfig& model, uint64_t seed, double share) {
  const auto gpu = make_trainer(model, seed), cpu = make_trainer(model, seed, Stream::Backend::kCpu);
  for (Trainer* t : {gpu.get(), cpu.get()}) {
    const std::vector<float> rounded = rounded_to_bf16(values(t->parameters(), t->parameters().flat()));
    t->parameters().write(t->parameters().flat(), [&](const TensorView& host) {
      std::copy(rounded.begin(), rounded.end(), host.as<float>());
    });
    if (model.experts.biases) fill_biases(*t);
    t->parameters_changed();
  }
  Batch batch = some_batch(model);
  trainer::StepOptions o;
  o.entropy_coef = 0.01f;
  batch.behavior.assign(batch.tokens.size(), -4.0f);
  o.clip_low = 0.999f, o.clip_high = 1e9f;
  if (model.mixes()) o.router = {.balance_coef = 0.05f, .z_coef = 0.01f};
  const trainer::StepReport a = gpu->step(batch.view(), o), b = cpu->step(batch.view(), o);
  if (a.expert_rows != b.expert_rows) return false;
  EXPECT_NEAR(a.router_loss, b.router_loss, 0.01 * share * b.router_loss);
  EXPECT_NEAR(a.loss, b.loss, 0.05 * std::fabs(b.loss) + share * 1e-3);  // its terms, of either sign, may nearly cancel
  EXPECT_NEAR(a.grad_norm, b.grad_norm, 0.036 * share * b.grad_norm);
  for (size_t t = 0; t < a.logprobs.size(); ++t) EXPECT_NEAR(a.logprobs[t], b.logprobs[t], 0.15);
  for (const model::TensorSpec& spec : gpu->gradients().specs()) {
    std::vector<float> x = values(gpu->gradients(), gpu->gradients().view(spec));
    const std::vector<float> y = values(cpu->gradients(), cpu->gradients().view(spec));
    for (size_t i = 0; i < x.size(); ++i) x[i] -= y[i];
    if (!(norm(x) <= 0.036 * share * norm(y) + 1e-4 * b.grad_norm)) {
      report(__FILE__, __LINE__, name + ": " + spec.name + " is off by " + show(norm(x)) + " of " + show(norm(y)));
    }
  }
  return true;
}

/// Where two of a router's scores are nearly equal, rounding decides which expert a row goes to, and gradients cannot be compared.
/// In a mixture of experts seeds are tried in turn until all rows go to the same experts.
inline void expect_gradients_of_the_cpu(const std::string& name, const ModelConfig& model, double share = 1.0) {
  for (uint64_t seed = 3; seed < 3 + (model.mixes() ? 8 : 1); ++seed) {
    if (compare_gradients_with_the_cpu(name, model, seed, share)) return;
  }
  report(__FILE__, __LINE__, name + ": with every seed some row went to another expert than on the CPU");
}

}  // namespace hone::test
