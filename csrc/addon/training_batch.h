// Copies a training batch from JavaScript, whose arrays may change or be garbage-collected during training.
#pragma once

#include <napi.h>

#include <cstdint>
#include <vector>

#include "trainer/trainer.h"

namespace hone::addon {

/// The copy of a batch. Optional arrays that were not given are empty.
struct OwnedBatch {
  std::vector<int32_t> tokens, cu_seqlens, group_sizes;
  std::vector<uint8_t> mask, routes;
  std::vector<float> behavior_logprobs, reference_logprobs, proximal_logprobs, advantages, token_advantages, token_weights, token_penalties;
  std::vector<int32_t> teacher_ids;
  std::vector<float> teacher_hidden, teacher_top_logprobs;
  kernels::StepNormalizer step;

  trainer::TrainingBatch view() const;
};

/// Throws kShape naming array and length, or the index at which cuSeqlens does not ascend from 0 to T. The
/// trainer does not check array lengths, so all are checked here.
OwnedBatch read_batch(const Napi::Value& value);

}  // namespace hone::addon
