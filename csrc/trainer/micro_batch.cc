#include "trainer/micro_batch.h"

#include <cmath>

namespace hone::trainer {
namespace {

using kernels::Objective;

void require(const void* array, bool wanted, const char* name, const char* why) {
  if (wanted && !array) fail(Code::kShape, "step: %s is absent; %s needs it.", name, why);
}

void check_layout(const TrainingBatch& b, const model::ModelConfig& model) {
  if (b.sequences <= 0) fail(Code::kShape, "step: sequences is %lld; it must be at least 1.", (long long)b.sequences);
  require(b.tokens, true, "tokens", "every step");
  require(b.cu_seqlens, true, "cu_seqlens", "every step");
  require(b.mask, true, "mask", "every step");
  if (b.cu_seqlens[0] != 0) fail(Code::kShape, "step: cu_seqlens[0] is %d, expected 0.", b.cu_seqlens[0]);
  for (int64_t i = 0; i < b.sequences; ++i) {
    const int64_t length = int64_t(b.cu_seqlens[i + 1]) - b.cu_seqlens[i];
    if (length <= 0) {
      fail(Code::kShape, "step: cu_seqlens[%lld] is %d, not above cu_seqlens[%lld] = %d.", (long long)(i + 1),
           b.cu_seqlens[i + 1], (long long)i, b.cu_seqlens[i]);
    }
    if (length > model.max_positions) {
      fail(Code::kShape, "step: sequence %lld has %lld tokens, above max_position_embeddings %lld.", (long long)i,
           (long long)length, (long long)model.max_positions);
    }
    if (b.mask[b.cu_seqlens[i]]) {
      fail(Code::kShape, "step: mask[%d] is 1 on the first token of sequence %lld, which nothing predicts.",
           b.cu_seqlens[i], (long long)i);
    }
  }
}

int64_t check_tokens(const TrainingBatch& b, const model::ModelConfig& model) {
  int64_t counted = 0;
  for (int32_t t = 0; t < b.cu_seqlens[b.sequences]; ++t) {
    if (b.tokens[t] < 0 || b.tokens[t] >= model.vocabulary) {
      fail(Code::kShape, "step: tokens[%d] is %d, outside [0, %lld).", t, b.tokens[t], (long long)model.vocabulary);
    }
    if (b.mask[t] > 1) fail(Code::kShape, "step: mask[%d] is %d, expected 0 or 1.", t, b.mask[t]);
    counted += b.mask[t];
  }
  return counted;
}

void check_normalizer(const TrainingBatch& b, int64_t counted) {
  const kernels::StepNormalizer& n = b.step;
  if (counted == 0) fail(Code::kShape, "step: mask is 0 everywhere; there is nothing to learn from.");
  if (n.counted_tokens != counted) {
    fail(Code::kShape, "step: step.counted_tokens is %lld, mask has %lld.", (long long)n.counted_tokens, (long long)counted);
  }
  if (n.sequences != b.sequences) {
    fail(Code::kShape, "step: step.sequences is %lld, the batch has %lld.", (long long)n.sequences, (long long)b.sequences);
  }
  if (n.groups < 1) fail(Code::kShape, "step: step.groups is %lld; it must be at least 1.", (long long)n.groups);
  if (!(n.dr_grpo > 0)) fail(Code::kShape, "step: step.dr_grpo is %g; it must be positive.", n.dr_grpo);
}

void option_range(const char* name, double value, double low, double high) {
  if (value >= low && value <= high) return;
  fail(Code::kConfig, "step: %s is %g; it must be in [%g, %g].", name, value, low, high);
}

void check_options(const TrainingBatch& b, const StepOptions& o) {
  const bool supervised = o.objective == Objective::kSupervised, per_token = o.objective == Objective::kPpoClip;
  require(b.behavior_logprobs, !supervised, "behavior_logprobs", "a policy objective");
  require(b.advantages, !supervised && !per_token, "advantages", "a policy objective");
  require(b.token_advantages, per_token, "token_advantages", "ppo-clip");
  require(b.group_sizes, o.objective == Objective::kGrpo, "group_sizes", "grpo");
  require(b.reference_logprobs, o.kl_coef != 0.0f, "reference_logprobs", "kl_coef above 0");
  constexpr double kMost = 3e38;
  option_range("clip_low", o.clip_low, 0.0, kMost);
  option_range("clip_high", o.clip_high, 0.0, kMost);
  option_range("temperature", o.temperature, 1e-3, 1e3);
  option_range("lr", o.lr, 0.0, kMost);
  option_range("muon_lr", o.muon_lr, 0.0, kMost);
  option_range("kl_coef", o.kl_coef, -kMost, kMost);
  option_range("entropy_coef", o.entropy_coef, -kMost, kMost);
  for (int64_t i = 0; o.objective == Objective::kGrpo && i < b.sequences; ++i) {
    if (b.group_sizes[i] < 1) {
      fail(Code::kShape, "step: group_sizes[%lld] is %d; it must be at least 1.", (long long)i, b.group_sizes[i]);
    }
  }
}

template <class T>
void append(const T* from, int32_t begin, int32_t end, std::vector<T>& to) {
  if (from) to.insert(to.end(), from + begin, from + end);
}

}  // namespace

void check_batch(const TrainingBatch& batch, const model::ModelConfig& model, const StepOptions* options) {
  check_layout(batch, model);
  const int64_t counted = check_tokens(batch, model);
  if (!options) return;
  check_normalizer(batch, counted);
  check_options(batch, *options);
}

void PackedBatch::gather(const TrainingBatch& batch, const MicroBatch& which) {
  for (auto* v : {&ids, &positions, &cu_seqlens, &group_sizes, &loss_token, &loss_row, &targets}) v->clear();
  for (auto* v : {&behavior, &reference, &token_advantages, &advantages}) v->clear();
  mask.clear();
  cu_seqlens.push_back(0);
  for (int32_t i : which.sequences) {
    const int32_t begin = batch.cu_seqlens[i], end = batch.cu_seqlens[i + 1], first = int32_t(ids.size());
    append(batch.tokens, begin, end, ids);
    append(batch.mask, begin, end, mask);
    append(batch.behavior_logprobs, begin, end, behavior);
    append(batch.reference_logprobs, begin, end, reference);
    append(batch.token_advantages, begin, end, token_advantages);
    append(batch.advantages, i, i + 1, advantages);
    append(batch.group_sizes, i, i + 1, group_sizes);
    for (int32_t t = 0; t < end - begin; ++t) {
      positions.push_back(t);
      if (!batch.mask[begin + t]) continue;
      loss_token.push_back(first + t);
      loss_row.push_back(first + t - 1);
      targets.push_back(batch.tokens[begin + t]);
    }
    cu_seqlens.push_back(int32_t(ids.size()));
  }
  for (auto* v : {&row_logprobs, &row_entropies, &row_lse, &row_a, &row_b}) v->assign(targets.size(), 0.0f);
  for (auto* v : {&logprobs, &entropies, &a, &b, &ratios}) v->assign(ids.size(), 0.0f);
  clipped.assign(ids.size(), 0);
  sequence_losses.assign(which.sequences.size(), 0.0);
}

model::PackedRows PackedBatch::rows() const {
  return {.ids = i32(ids.data(), {tokens()}),
          .positions = i32(positions.data(), {tokens()}),
          .cu_seqlens = i32(cu_seqlens.data(), {int64_t(cu_seqlens.size())}),
          .loss_rows = i32(loss_row.data(), {loss_rows()})};
}

}  // namespace hone::trainer
