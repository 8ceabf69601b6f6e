#include "trainer/micro_batch_pass.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/stopwatch.h"
#include "kernels/lm_head.h"

namespace hone::trainer {
namespace {

/// Of the rows that this process has: all of them in blocks, or one block, where it has that alone.
std::vector<model::BlockGradients> blocks_of(const PackedBatch& packed, const PassWeights& weights) {
  if (weights.ranks) return model::one_block(packed.rows(), weights.grads[0]);
  std::vector<model::BlockGradients> out;
  for (size_t b = 0; b < weights.grads.size(); ++b) out.push_back({packed.blocks()[b], weights.grads[b]});
  return out;
}

/// At the rows of the batch's counted tokens.
void keep_rows(const TensorView& hidden, const PackedBatch& packed, const TeacherScores& scores) {
  const int64_t C = hidden.dim(1);
  for (int64_t r = 0; r < packed.loss_rows(); ++r) std::copy_n(hidden.row<float>(r), C, scores.hidden + packed.teacher_rows.host[r] * C);
}

/// The same of the k likeliest tokens of each. args: without ids and log-probs.
void keep_likeliest(const Stream& stream, kernels::LmHeadTopArgs args, const PackedBatch& packed, const TeacherScores& scores) {
  const int64_t R = packed.loss_rows(), k = scores.k;
  std::vector<int32_t> ids(size_t(R * k));
  std::vector<float> logprobs(ids.size());
  args.ids = i32(ids.data(), {R, k}), args.logprobs = f32(logprobs.data(), {R, k});
  kernels::lm_head_top(stream, args);
  for (int64_t r = 0; r < R; ++r) {
    const int64_t to = packed.teacher_rows.host[r] * k;
    std::copy_n(ids.data() + r * k, k, scores.ids + to);
    std::copy_n(logprobs.data() + r * k, k, scores.top_logprobs + to);
  }
}

/// dLoss/ddivergence of the tokens of a sequence that has n.
double divergence_scale(const TrainingBatch& batch, const StepOptions& o, int64_t n) {
  const double coef = double(o.divergence.coef);
  if (!o.divergence.by_sequence) return coef / double(batch.step.counted_tokens);
  return coef / (double(batch.step.sequences) * (o.sequence_weight == kernels::SequenceWeight::kLength ? 1.0 : double(n)));
}

void lay_slopes(const TrainingBatch& batch, const StepOptions& o, const PackedBatch& packed) {
  std::fill_n(packed.divergences.host, packed.loss_rows(), 0.0f);
  for (int64_t s = 0; s + 1 < packed.loss_starts.size; ++s) {
    const int32_t first = packed.loss_starts.host[s], n = packed.loss_starts.host[s + 1] - first;
    if (n > 0) std::fill_n(packed.slopes.host + first, n, float(divergence_scale(batch, o, n)));
  }
}

void add_divergences(const PackedBatch& packed, const TrainingBatch& batch, const MicroBatch& which, const StepOptions& o,
                     StepLosses& losses, StepReport& report) {
  for (size_t k = 0; k < which.sequences.size(); ++k) {
    const int32_t i = which.sequences[k], first = packed.loss_starts.host[k], last = packed.loss_starts.host[k + 1];
    double sum = 0;
    for (int32_t r = first; r < last; ++r) sum += double(packed.divergences.host[r]);
    if (last > first) losses.loss[size_t(i)] += divergence_scale(batch, o, last - first) * sum;
    if (!std::isfinite(sum) && (losses.first_bad < 0 || i < losses.first_bad)) losses.first_bad = i;
  }
  scatter(batch, which, packed.divergences.host, report.divergences.data());
}

/// The micro-batch's rows, whose backward counts in the report those that each expert got.
model::PackedRows counting(const PackedBatch& packed, const model::ModelConfig& config, StepReport& report) {
  model::PackedRows rows = packed.rows();
  if (!config.mixes()) return rows;
  report.expert_rows.resize(size_t(config.layers * config.experts.count));
  rows.expert_rows = report.expert_rows.data();
  return rows;
}

}  // namespace

int64_t pass_arena_bytes(const Stream& stream, const model::ModelConfig& config, int64_t tokens, const TrainerConfig& options) {
  const model::AdapterConfig& adapters = options.adapters;
  return model::training_bytes(stream, config, tokens, options.recompute, options.sharding.sequence > 1, options.weight_storage).total() +
         (adapters.on() ? model::adapter_gradient_bytes(stream, config, adapters, tokens) : 0) +
         Arena::rounded(tokens * config.width * dtype_bytes(activation_dtype(stream))) +  // dLoss/dhidden
         kernels::lm_head_scratch_bytes(stream, tokens, config.width, config.vocabulary, options.head_rows);
}

MicroBatchPass::MicroBatchPass(const Stream& stream, const model::ModelConfig& config, const TrainerConfig& options)
    : stream_(stream),
      config_(config),
      options_(options),
      packed_(stream, options.deterministic) {}

void MicroBatchPass::reserve(int64_t tokens) {
  if (tokens <= reserved_tokens_) return;
  const int64_t room = std::max(tokens, options_.packed_tokens);
  arena_ = Arena();  // give the old block back first
  reserved_tokens_ = 0;
  arena_ = Arena(pass_arena_bytes(stream_, config_, room, options_), "trainer activations", tensor_memory(stream_));
  reserved_tokens_ = room;
}

model::Activations MicroBatchPass::forward(const TrainingBatch& batch, const MicroBatch& which, const Reads& reads,
                                           int64_t blocks, float temperature) {
  arena_.release(0);
  packed_.gather(batch, which, reads.ranks ? reads.ranks->ranks() : blocks, reads.ranks);
  if (reads.ranks) reads.ranks->begin(packed_.ids.size);
  model::Activations saved = model::forward_training(stream_, reads.weights, packed_.rows(), arena_, options_.recompute);
  kernels::lm_head(stream_, {.h = saved.hidden,
                             .w = reads.weights.head,
                             .targets = packed_.own(packed_.targets),
                             .logprobs = packed_.own(packed_.logprobs),
                             .entropies = packed_.own(packed_.entropies),
                             .lse = packed_.own(packed_.lse),
                             .temperature = temperature,
                             .scratch = &arena_,
                             .softcap = config_.logit_softcap});
  if (!reads.ranks) return saved;
  std::vector<model::RowRange> outputs;
  for (const model::RowBlock& block : packed_.blocks()) outputs.push_back(block.outputs);
  reads.ranks->share(stream_, outputs, {packed_.logprobs.device, packed_.entropies.device});
  return saved;
}

void MicroBatchPass::score(const TrainingBatch& batch, const MicroBatch& which, const Reads& reads, float temperature,
                           float* logprobs, float* entropies) {
  forward(batch, which, reads, 1, temperature);
  settle(reads.ranks);
  packed_.fetch();
  scatter(batch, which, packed_.logprobs.host, logprobs);
  scatter(batch, which, packed_.entropies.host, entropies);
}

void MicroBatchPass::teach(const TrainingBatch& batch, const MicroBatch& which, const Reads& reads, float temperature,
                           const TeacherScores& scores) {
  const model::Activations saved = forward(batch, which, reads, 1, temperature);
  packed_.fetch();
  scatter(batch, which, packed_.logprobs.host, scores.logprobs);
  if (scores.hidden) return keep_rows(saved.hidden, packed_, scores);
  keep_likeliest(stream_, {.h = saved.hidden, .w = reads.weights.head, .temperature = temperature, .scratch = &arena_, .softcap = config_.logit_softcap},
                 packed_, scores);
}

void MicroBatchPass::train(const TrainingBatch& batch, const MicroBatch& which, const StepOptions& o,
                           const PassWeights& weights, StepLosses& losses, StepReport& report) {
  const bool regularized = o.kl_coef != 0.0f || o.entropy_coef != 0.0f;
  std::optional<Stopwatch> watch(report.forward_seconds);
  const model::Activations saved = forward(batch, which, {weights.forward, weights.ranks}, int64_t(weights.grads.size()), o.temperature);
  if (o.objective == kernels::Objective::kCustom) settle(weights.ranks), ask_slopes(batch, o, packed_);
  if (regularized) kernels::policy_loss(stream_, packed_.loss_args(batch, o, false));
  kernels::policy_loss(stream_, packed_.loss_args(batch, o, true));
  watch.emplace(report.backward_seconds);
  if (o.divergence.on()) lay_slopes(batch, o, packed_);
  if (losses.first_bad < 0) backward(saved, batch, o, weights, report);
  settle(weights.ranks);
  collect(which, regularized, losses);
  if (o.divergence.on()) add_divergences(packed_, batch, which, o, losses, report);
  watch.emplace(report.forward_seconds);
  keep_tokens(batch, which, report);
}

void MicroBatchPass::backward(const model::Activations& saved, const TrainingBatch& batch, const StepOptions& o, const PassWeights& weights, StepReport& report) {
  const kernels::Divergence divergence = weights.teacher->of(batch, o, packed_.loss_rows(), config_.vocabulary);
  const TensorView dh = arena_.take_view(activation_dtype(stream_), {saved.hidden.dim(0), config_.width});
  const std::vector<model::BlockGradients> blocks = blocks_of(packed_, weights);
  for (const auto& [rows, grads] : blocks) {
    const auto of_block = [&of = rows.outputs](const TensorView& view) { return model::rows_of(view, of); };
    kernels::lm_head_grad(stream_, {.h = of_block(saved.hidden),
                                    .w = weights.forward.head,
                                    .w_t = weights.transposed_head,
                                    .targets = of_block(packed_.own(packed_.targets)),
                                    .lse = of_block(packed_.own(packed_.lse)),
                                    .entropies = of_block(packed_.own(packed_.entropies)),
                                    .a = of_block(packed_.own(packed_.a)),
                                    .b = o.entropy_coef != 0.0f ? of_block(packed_.own(packed_.b)) : TensorView{},
                                    .dh = of_block(dh),
                                    .dw = grads.head(),
                                    .temperature = o.temperature,
                                    .scratch = &arena_,
                                    .chunk = options_.head_rows,
                                    .softcap = config_.logit_softcap,
                                    .teacher = o.divergence.on() ? &divergence : nullptr, .teacher_rows = of_block(packed_.own(packed_.teacher_rows)),
                                    .slopes = o.divergence.on() ? of_block(packed_.own(packed_.slopes)) : TensorView{}, .divergences = of_block(packed_.own(packed_.divergences))});
  }
  model::backward(stream_, weights.forward, counting(packed_, config_, report), saved, dh, blocks, arena_);
}

void MicroBatchPass::collect(const MicroBatch& which, bool regularized, StepLosses& losses) const {
  packed_.fetch();
  for (size_t k = 0; k < which.sequences.size(); ++k) {
    const int32_t i = which.sequences[k];
    const double loss = packed_.losses.host[k], policy = (regularized ? packed_.policy_losses : packed_.losses).host[k];
    losses.loss[size_t(i)] = loss;
    losses.policy[size_t(i)] = policy;
    const bool finite = std::isfinite(loss) && std::isfinite(policy);
    if (!finite && (losses.first_bad < 0 || i < losses.first_bad)) losses.first_bad = i;
  }
}

void MicroBatchPass::keep_tokens(const TrainingBatch& batch, const MicroBatch& which, StepReport& report) const {
  scatter(batch, which, packed_.logprobs.host, report.logprobs.data());
  scatter(batch, which, packed_.entropies.host, report.entropies.data());
  scatter(batch, which, packed_.ratios.host, report.ratios.data());
  scatter(batch, which, packed_.clipped.host, report.clipped.data());
  if (!report.weights.empty()) scatter(batch, which, packed_.weights.host, report.weights.data());
}

}  // namespace hone::trainer
