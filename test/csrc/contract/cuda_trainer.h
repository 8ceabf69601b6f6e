// A small trainer on a GPU, its batches, and reading its tensors.
#pragma once

#include <memory>
#include <vector>

#include "rollouts.h"
#include "trainer/reference_loss.h"
#include "trainer/trainer.h"

namespace hone::test {

using model::ModelConfig;
using trainer::Trainer;
using trainer::TrainerConfig;

inline constexpr auto kCuda = Stream::Backend::kCuda;

inline std::unique_ptr<Trainer> make_trainer(const ModelConfig& model, uint64_t seed, Stream::Backend device = kCuda,
                                             float clip = 0.0f) {
  TrainerConfig config;
  config.packed_tokens = 14;  // small enough that the batch needs two micro-batches
  config.optimizer.gradient_clip = clip;
  config.device = device;
  auto trainer = std::make_unique<Trainer>(model, config, nullptr);
  trainer->parameters().initialize(seed);
  scale_head(trainer->parameters());
  trainer->parameters_changed();
  return trainer;
}

/// A tensor's values as host floats, whether it is on the host or on a device.
inline std::vector<float> values(const model::TensorBlock& p, const TensorView& tensor) {
  Arena staging(p.staging_bytes(tensor), "test");
  const float* const x = p.read(tensor, staging).as<float>();
  return {x, x + tensor.numel()};
}

inline Batch some_batch(const ModelConfig& model) {
  Batch batch;
  for (const int length : {7, 11, 4}) {
    std::vector<int32_t> tokens;
    for (int t = 0; t < length; ++t) tokens.push_back(int32_t(random_int(0, model.vocabulary - 1)));
    batch.add(tokens, size_t(length / 3), length > 7 ? -0.5f : 1.0f, 1);
  }
  return batch;
}

}  // namespace hone::test
