#include "trainer/micro_batch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

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

void check_given_routes(const TrainingBatch& b, const model::ModelConfig& model, Stream::Backend device) {
  if (!b.routes) return;
  if (device == Stream::Backend::kCuda) {
    fail(Code::kUnsupported, "step: the batch has routes, to which only a trainer on the CPU sends rows; choose device \"cpu\", or leave the routes out.");
  }
  const int64_t bytes = model::route_bytes(model);
  if (b.route_bytes != bytes || bytes == 0) {
    fail(Code::kShape, "step: routes have %lld bytes a token; those of %s with %lld experts have %lld.", (long long)b.route_bytes,
         model.arch.c_str(), (long long)model.experts.count, (long long)bytes);
  }
  model::check_routes(model, b.routes, b.cu_seqlens[b.sequences]);
}

void check_normalizer(const TrainingBatch& b, int64_t counted) {
  const kernels::StepNormalizer& n = b.step;
  if (counted == 0) fail(Code::kShape, "step: mask is 0 everywhere; there is nothing to learn from.");
  if (n.counted_tokens != counted) {
    fail(Code::kShape, "step: step.counted_tokens is %lld, mask has %lld.", (long long)n.counted_tokens, (long long)counted);
  }
  if (n.sequences < b.sequences) {
    fail(Code::kShape, "step: step.sequences is %lld, fewer than the %lld of the batch.", (long long)n.sequences, (long long)b.sequences);
  }
  if (n.groups < 1) fail(Code::kShape, "step: step.groups is %lld; it must be at least 1.", (long long)n.groups);
  if (!(n.dr_grpo > 0)) fail(Code::kShape, "step: step.dr_grpo is %g; it must be positive.", n.dr_grpo);
}

void option_range(const char* name, double value, double low, double high) {
  if (value >= low && value <= high) return;
  fail(Code::kConfig, "step: %s is %g; it must be in [%g, %g].", name, value, low, high);
}

void check_correction(const StepOptions& o) {
  if (o.correction == kernels::Correction::kNone) return;
  if (o.objective == Objective::kSupervised) {
    fail(Code::kConfig, "step: a correction is given, but the supervised objective has no behavior to correct.");
  }
  if (o.objective == Objective::kCustom) {
    fail(Code::kConfig, "step: a correction is given, but a custom objective is asked for its slopes as they are.");
  }
  constexpr double kMost = 3e38;
  option_range("correction.high", o.correction_high, 0.0, kMost);
  const bool gaps = o.correction == kernels::Correction::kDppoTv || o.correction == kernels::Correction::kDppoKl;
  option_range("correction.low", o.correction_low, 0.0, gaps ? kMost : double(o.correction_high));
}

void check_options(const TrainingBatch& b, const StepOptions& o) {
  const bool supervised = o.objective == Objective::kSupervised, per_token = o.objective == Objective::kPpoClip;
  require(b.behavior_logprobs, !supervised, "behavior_logprobs", "a policy objective");
  require(b.advantages, !supervised && !per_token, "advantages", "a policy objective");
  require(b.token_advantages, per_token, "token_advantages", "ppo-clip");
  require(b.group_sizes, o.objective == Objective::kGrpo, "group_sizes", "grpo");
  require(b.reference_logprobs, o.kl_coef != 0.0f, "reference_logprobs", "kl_coef above 0");
  constexpr double kMost = 3e38;
  if (o.objective == Objective::kCustom && !o.slopes) fail(Code::kConfig, "step: the custom objective is given no function for its slopes.");
  option_range("clip_low", o.clip_low, 0.0, kMost);
  option_range("clip_high", o.clip_high, 0.0, kMost);
  option_range("dual_clip", o.dual_clip, 1.0, std::numeric_limits<double>::infinity());
  option_range("off_policy_mask", o.off_policy_mask, 0.0, std::numeric_limits<double>::infinity());
  option_range("gate.positive", o.gate_positive, 1e-3, 1e3);
  option_range("gate.negative", o.gate_negative, 1e-3, 1e3);
  option_range("temperature", o.temperature, 1e-3, 1e3);
  option_range("lr", o.lr, 0.0, kMost);
  option_range("muon_lr", o.muon_lr, 0.0, kMost);
  option_range("kl_coef", o.kl_coef, -kMost, kMost);
  option_range("entropy_coef", o.entropy_coef, -kMost, kMost);
  option_range("router.balance_coef", o.router.balance_coef, 0.0, kMost);
  option_range("router.z_coef", o.router.z_coef, 0.0, kMost);
  check_correction(o);
  if (std::isfinite(o.off_policy_mask) && (o.objective == Objective::kGmpo || o.objective == Objective::kCustom)) {
    fail(Code::kConfig, "step: off_policy_mask is %g, but gmpo and a custom objective have no such mask.", double(o.off_policy_mask));
  }
  for (int64_t i = 0; o.objective == Objective::kGrpo && i < b.sequences; ++i) {
    if (b.group_sizes[i] < 1) {
      fail(Code::kShape, "step: group_sizes[%lld] is %d; it must be at least 1.", (long long)i, b.group_sizes[i]);
    }
  }
}

/// Copies a micro-batch's token values, sequence after sequence: all tokens, or only those with mask 1. Does
/// nothing if `from` is null.
template <class T>
void lay_tokens(const TrainingBatch& b, const MicroBatch& which, const T* from, bool counted, T* to) {
  if (!from) return;
  for (int32_t i : which.sequences) {
    for (int32_t t = b.cu_seqlens[i]; t < b.cu_seqlens[i + 1]; ++t) {
      if (!counted || b.mask[t]) *to++ = from[t];
    }
  }
}

/// Copies one value per sequence of a micro-batch. Does nothing if `from` is null.
template <class T>
void lay_sequences(const MicroBatch& which, const T* from, T* to) {
  for (size_t s = 0; from && s < which.sequences.size(); ++s) to[s] = from[which.sequences[s]];
}

/// Numbers of all tokens of a micro-batch, and of those with mask 1.
std::pair<int64_t, int64_t> tokens_of(const TrainingBatch& batch, const MicroBatch& which) {
  std::pair<int64_t, int64_t> out;
  for (int32_t i : which.sequences) {
    out.first += batch.cu_seqlens[i + 1] - batch.cu_seqlens[i];
    out.second += std::count(batch.mask + batch.cu_seqlens[i], batch.mask + batch.cu_seqlens[i + 1], 1);
  }
  return out;
}

/// The optional arrays [T] of a batch, and the PackedBatch arrays that get the values of their loss tokens.
std::array<std::pair<const float*, PackedBatch::Array<float> PackedBatch::*>, 6> token_values(const TrainingBatch& b) {
  return {{{b.behavior_logprobs, &PackedBatch::behavior},
           {b.reference_logprobs, &PackedBatch::reference},
           {b.proximal_logprobs, &PackedBatch::proximal},
           {b.token_advantages, &PackedBatch::token_advantages},
           {b.token_weights, &PackedBatch::token_weights},
           {b.token_penalties, &PackedBatch::token_penalties}}};
}

template <class T>
TensorView optional(const SharedArrays::Array<T>& array) {
  return array.device ? array.view() : TensorView{};
}

}  // namespace

void check_batch(const TrainingBatch& batch, const model::ModelConfig& model, const StepOptions* options, Stream::Backend device) {
  check_layout(batch, model);
  const int64_t counted = check_tokens(batch, model);
  check_given_routes(batch, model, device);
  if (!options) return;
  check_normalizer(batch, counted);
  check_options(batch, *options);
  if (options->router.on() && !model.mixes()) {
    fail(Code::kConfig, "step: router.balance_coef is %g and router.z_coef is %g, but %s has no experts; leave them at 0.",
         double(options->router.balance_coef), double(options->router.z_coef), model.arch.c_str());
  }
}

int64_t packed_batch_bytes(int64_t tokens, int64_t sequences, int64_t expert_counts) {
  // Per token: 20 arrays of 4 bytes, 2 of 1 and 1 of 8; per sequence: 8 of 4 or 8. Each array is aligned to
  // 64 bytes.
  return Arena::rounded(tokens * (20 * 4 + 2 + 8) + (sequences + 1) * 48 + expert_counts * 8 + 34 * 64);
}

void PackedBatch::reserve(int64_t tokens, int64_t sequences) {
  const int64_t bytes = packed_batch_bytes(tokens, sequences, expert_counts_);
  if (bytes <= capacity_) return;
  memory_ = {};
  capacity_ = 0;
  memory_ = SharedArrays(stream_, bytes, "packed batch");
  capacity_ = bytes;
}

std::vector<int32_t> numbers_of(const TrainingBatch& batch, const MicroBatch& which, const model::RowRange& rows) {
  std::vector<int32_t> all;
  for (const int32_t i : which.sequences) {
    const uint8_t *const begin = batch.mask + batch.cu_seqlens[i], *const end = batch.mask + batch.cu_seqlens[i + 1];
    const auto first = int32_t(std::count(batch.mask, begin, 1));
    all.resize(all.size() + size_t(std::count(begin, end, 1)));
    std::iota(all.end() - std::count(begin, end, 1), all.end(), first);
  }
  return {all.begin() + rows.first, all.begin() + rows.first + rows.count};
}

void PackedBatch::lay_out(const TrainingBatch& batch, int64_t T, int64_t S, int64_t R) {
  const auto take_if = [&](const auto* given, auto& array, int64_t n) {
    array = {};
    if (given) array = memory_.take<std::remove_const_t<std::remove_pointer_t<decltype(given)>>>(n);
  };
  memory_.clear();
  for (auto* array : {&ids, &positions}) *array = memory_.take<int32_t>(T);
  for (auto* array : {&cu_seqlens, &loss_starts}) *array = memory_.take<int32_t>(S + 1);
  for (auto* array : {&loss_row, &targets}) *array = memory_.take<int32_t>(R);
  mask = memory_.take<uint8_t>(R);
  for (const auto& [given, array] : token_values(batch)) take_if(given, this->*array, R);
  take_if(batch.teacher.hidden ? batch.teacher.hidden : batch.teacher.logprobs, slopes, R);
  take_if(batch.advantages, advantages, S), take_if(batch.group_sizes, group_sizes, S);
  results_ = memory_.used();
  for (auto* array : {&logprobs, &entropies, &lse, &a, &b, &ratios, &weights, &divergences}) *array = memory_.take<float>(R);
  clipped = memory_.take<uint8_t>(R), expert_rows = memory_.take<double>(expert_counts_);
  for (auto* array : {&losses, &policy_losses, &router_losses}) *array = memory_.take<double>(S);
  custom_ = memory_.used();
  custom_slopes = memory_.take<double>(R), custom_losses = memory_.take<double>(S);
}

void LaidRoutes::gather(const TrainingBatch& batch, const MicroBatch& which) {
  bytes = batch.route_bytes;
  rows.clear();
  for (const int32_t i : which.sequences) {
    if (batch.routes) rows.insert(rows.end(), batch.routes + batch.cu_seqlens[i] * bytes, batch.routes + batch.cu_seqlens[i + 1] * bytes);
  }
}

void PackedBatch::gather(const TrainingBatch& batch, const MicroBatch& which, int64_t parts, model::HeadExchange* exchange) {
  const auto S = int64_t(which.sequences.size());
  const auto [T, R] = tokens_of(batch, which);
  reserve(T, S);
  lay_out(batch, T, S, R);
  int32_t token = 0, row = 0;
  for (int64_t s = 0; s < S; ++s) {
    const int32_t i = which.sequences[size_t(s)], begin = batch.cu_seqlens[i], length = batch.cu_seqlens[i + 1] - begin;
    cu_seqlens.host[s] = token, loss_starts.host[s] = row;
    for (int32_t t = 0; t < length; ++t) {
      positions.host[token + t] = t;
      if (batch.mask[begin + t]) loss_row.host[row++] = token + t - 1;
    }
    token += length;
  }
  cu_seqlens.host[S] = token, loss_starts.host[S] = row;
  blocks_ = model::row_blocks(T, loss_row.host, R, parts);
  own_ = exchange ? blocks_[size_t(exchange->rank())] : model::RowBlock{{0, T}, {0, R}};
  exchange_ = exchange;
  for (int64_t r = own_.outputs.first; r < own_.outputs.first + own_.outputs.count; ++r) loss_row.host[r] -= int32_t(own_.tokens.first);
  std::fill_n(mask.host, R, uint8_t(1));
  lay_tokens(batch, which, batch.tokens, false, ids.host);
  lay_tokens(batch, which, batch.tokens, true, targets.host);
  for (const auto& [from, to] : token_values(batch)) lay_tokens(batch, which, from, true, (this->*to).host);
  lay_sequences(which, batch.advantages, advantages.host), lay_sequences(which, batch.group_sizes, group_sizes.host);
  routes_.gather(batch, which);
  memory_.upload(stream_, 0, results_);
}

kernels::PolicyLossArgs PackedBatch::loss_args(const TrainingBatch& batch, const StepOptions& o, bool regularizers) const {
  const bool corrected = o.correction != kernels::Correction::kNone, custom = o.objective == Objective::kCustom;
  return {.objective = o.objective,
          .sequence_weight = o.sequence_weight,
          .logprobs = logprobs.view(),
          .behavior_logprobs = optional(behavior),
          .proximal_logprobs = corrected ? (proximal.device ? proximal : logprobs).view() : TensorView{},
          .reference_logprobs = optional(reference),
          .entropies = entropies.view(),
          .mask = mask.view(),
          .cu_seqlens = loss_starts.view(),
          .advantages = optional(advantages),
          .token_advantages = optional(token_advantages),
          .token_weights = custom ? TensorView{} : optional(token_weights),  // a custom objective applies them
          .token_penalties = optional(token_penalties),
          .group_sizes = optional(group_sizes),
          .custom_slopes = custom ? custom_slopes.view() : TensorView{},
          .custom_losses = custom ? custom_losses.view() : TensorView{},
          .a = a.view(),
          .b = b.view(),
          .ratios = ratios.view(),
          .clipped = clipped.view(),
          .weights = corrected ? weights.view() : TensorView{},
          .sequence_losses = (regularizers ? losses : policy_losses).view(),
          .step = batch.step,
          .clip_low = o.clip_low, .clip_high = o.clip_high,
          .dual_clip = o.dual_clip, .off_policy_mask = o.off_policy_mask,
          .gate_positive = o.gate_positive,
          .gate_negative = o.gate_negative,
          .kl_coef = regularizers ? o.kl_coef : 0.0f,
          .entropy_coef = regularizers ? o.entropy_coef : 0.0f,
          .kl_estimator = o.kl_estimator,
          .correction = o.correction,
          .correction_low = o.correction_low,
          .correction_high = o.correction_high};
}

namespace {

/// Fills the results of a custom objective for log-probs that are not finite, so that the step is skipped and
/// the sequence named, as with every other objective.
void refuse_to_ask(const PackedBatch& p) {
  std::fill_n(p.custom_slopes.host, p.custom_slopes.size, 0.0);
  for (int64_t s = 0; s < p.custom_losses.size; ++s) {
    const bool known = std::all_of(p.logprobs.host + p.loss_starts.host[s], p.logprobs.host + p.loss_starts.host[s + 1],
                                   [](float x) { return std::isfinite(x); });
    p.custom_losses.host[s] = known ? 0.0 : std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace

void ask_slopes(const TrainingBatch& batch, const StepOptions& options, const PackedBatch& p) {
  p.fetch();
  const int64_t R = p.loss_rows();
  const bool finite = std::all_of(p.logprobs.host, p.logprobs.host + R, [](float x) { return std::isfinite(x); });
  if (finite) {
    options.slopes({.tokens = R,
                    .sequences = p.custom_losses.size,
                    .logprobs = p.logprobs.host,
                    .entropies = p.entropies.host,
                    .behavior = p.behavior.host,
                    .reference = p.reference.host,
                    .token_advantages = p.token_advantages.host,
                    .token_weights = p.token_weights.host,
                    .advantages = p.advantages.host,
                    .starts = p.loss_starts.host,
                    .group_sizes = p.group_sizes.host,
                    .step = batch.step,
                    .slopes = p.custom_slopes.host,
                    .losses = p.custom_losses.host});
  } else {
    refuse_to_ask(p);
  }
  p.upload_custom();
}

}  // namespace hone::trainer
