// A batch for any policy objective, with its outputs; for the tests of kernels/policy_loss.h.
#pragma once

#include "check.h"
#include "kernels/policy_loss.h"

namespace hone::test {

using namespace hone::kernels;

struct PolicyBatch {
  PolicyLossArgs args;
  std::vector<float> logprobs, behavior, proximal, reference, entropies, advantages, token_advantages, token_weights, token_penalties;
  std::vector<uint8_t> mask;
  std::vector<int32_t> starts{0}, group_sizes;
  std::vector<float> a, b, ratios, weights;
  std::vector<uint8_t> clipped;
  std::vector<double> losses, custom_slopes, custom_losses;

  int64_t tokens() const { return int64_t(logprobs.size()); }
  int64_t sequences() const { return int64_t(starts.size()) - 1; }
  int64_t counted(int64_t i) const {
    int64_t n = 0;
    for (int32_t t = starts[size_t(i)]; t < starts[size_t(i) + 1]; ++t) n += mask[size_t(t)];
    return n;
  }
  static TensorView optional(const std::vector<float>& x) {
    return x.empty() ? TensorView{} : f32(x.data(), {int64_t(x.size())});
  }
  double run() {
    const int64_t T = tokens(), S = sequences();
    a = poison(T);
    b = poison(T);
    ratios = poison(T);
    weights = poison(T);
    clipped.assign(size_t(T) + 1, 7);
    losses.assign(size_t(S) + 1, std::nan(""));
    PolicyLossArgs x = args;
    // One more element than needed, so that an empty batch's data pointer is not null.
    mask.reserve(size_t(T) + 1);
    x.logprobs = f32(logprobs.data(), {T});
    x.behavior_logprobs = optional(behavior);
    x.proximal_logprobs = optional(proximal);
    x.reference_logprobs = optional(reference);
    x.entropies = optional(entropies);
    x.mask = u8(mask.data(), {T});
    x.cu_seqlens = i32(starts.data(), {S + 1});
    x.advantages = optional(advantages);
    x.token_advantages = optional(token_advantages);
    x.token_weights = optional(token_weights);
    x.token_penalties = optional(token_penalties);
    if (!group_sizes.empty()) x.group_sizes = i32(group_sizes.data(), {S});
    if (!custom_slopes.empty()) x.custom_slopes = {custom_slopes.data(), DType::kF64, {T}};
    if (!custom_losses.empty()) x.custom_losses = {custom_losses.data(), DType::kF64, {S}};
    x.a = f32(a.data(), {T});
    x.b = f32(b.data(), {T});
    x.ratios = f32(ratios.data(), {T});
    x.clipped = u8(clipped.data(), {T});
    if (args.correction != Correction::kNone) x.weights = f32(weights.data(), {T});
    x.sequence_losses = {losses.data(), DType::kF64, {S}};
    policy_loss({}, x);
    double total = 0;
    for (int64_t i = 0; i < S; ++i) total += losses[size_t(i)];
    return total;
  }
};

/// A random batch of sequences of different lengths, one empty, one fully masked; ratios are near 1 and not
/// at the clip bounds.
inline PolicyBatch random_batch(Objective objective) {
  PolicyBatch batch;
  batch.args.objective = objective;
  batch.args.clip_low = 0.2f;
  batch.args.clip_high = 0.3f;
  batch.args.step = {7, 3, 19, 12.5};
  for (int n : {4, 0, 9, 1, 3}) batch.starts.push_back(batch.starts.back() + n);
  const int64_t T = batch.starts.back(), S = 5;
  batch.logprobs = random_floats(T, 0.5f);
  batch.behavior = batch.logprobs;
  for (float& x : batch.behavior) x += random_floats(1, 0.3f)[0];
  batch.reference = random_floats(T, 0.5f);
  batch.entropies = random_floats(T);
  batch.advantages = random_floats(S);
  batch.token_advantages = random_floats(T);
  batch.group_sizes = {2, 2, 3, 3, 3};
  for (int64_t t = 0; t < T; ++t) batch.mask.push_back(uint8_t(t % 5 != 1 && t < T - 3));
  return batch;
}

}  // namespace hone::test
