// Copies a training batch out of JavaScript, whose arrays may change or be collected during training.
#pragma once

#include <napi.h>

#include <cstdint>
#include <vector>

#include "trainer/trainer.h"

namespace hone::addon {

/// Optional arrays are empty when not given.
struct OwnedBatch {
  std::vector<int32_t> tokens, cu_seqlens, group_sizes;
  std::vector<uint8_t> mask, routes;
  std::vector<float> behavior_logprobs, reference_logprobs, proximal_logprobs, advantages, token_advantages, token_weights, token_penalties;
  std::vector<int32_t> teacher_ids;
  std::vector<float> teacher_hidden, teacher_top_logprobs;
  kernels::StepNormalizer step;

  trainer::TrainingBatch view() const;
};

/// Throws kShape naming array and length, or the index where cuSeqlens does not ascend from 0 to T: the trainer trusts
/// its raw pointers, so everything is checked here.
OwnedBatch read_batch(const Napi::Value& value);

}  // namespace hone::addon
