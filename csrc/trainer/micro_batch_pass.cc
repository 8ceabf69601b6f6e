#include "trainer/micro_batch_pass.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "core/device.h"
#include "core/stopwatch.h"
#include "kernels/lm_head.h"
#include "trainer/shard_layout.h"

namespace hone::trainer {
namespace {

/// The row blocks of this process: all blocks, or one block if ranks share the micro-batch.
std::vector<model::BlockGradients> blocks_of(const PackedBatch& packed, const PassWeights& weights) {
  if (weights.ranks) return model::one_block(packed.rows(), weights.grads[0]);
  std::vector<model::BlockGradients> out;
  for (size_t b = 0; b < weights.grads.size(); ++b) out.push_back({packed.blocks()[b], weights.grads[b]});
  return out;
}

/// Copies hidden states [R, C] to scores.hidden. to: each row's index among the batch's loss tokens.
void keep_rows(const Stream& stream, const TensorView& hidden, const std::vector<int32_t>& to, const TokenScores& scores) {
  const int64_t R = hidden.dim(0), C = hidden.dim(1);
  if (!stream.is_cuda()) {
    for (int64_t r = 0; r < R; ++r) std::copy_n(hidden.row<float>(r), C, scores.hidden + to[size_t(r)] * C);
    return;
  }
  std::vector<uint16_t> rows(size_t(R * C));
  download(stream, rows.data(), hidden.data, R * C * int64_t(sizeof(uint16_t)));
  for (int64_t r = 0; r < R; ++r) std::transform(rows.data() + r * C, rows.data() + (r + 1) * C, scores.hidden + to[size_t(r)] * C, bf16_to_f32);
}

/// Computes the k likeliest tokens of each row and copies them to `scores`. args: all but ids and log-probs.
/// to: each row's index among the batch's loss tokens.
void keep_likeliest(const Stream& stream, kernels::LmHeadTopArgs args, const std::vector<int32_t>& to, const TokenScores& scores) {
  const int64_t R = args.h.dim(0), k = scores.k;
  SharedArrays memory(stream, 2 * Arena::rounded(R * k * 4), "likeliest tokens");
  const auto ids = memory.take<int32_t>(R * k);
  const auto logprobs = memory.take<float>(R * k);
  args.ids = i32(ids.device, {R, k}), args.logprobs = f32(logprobs.device, {R, k});
  kernels::lm_head_top(stream, args);
  memory.download(stream, 0, memory.used());
  for (int64_t r = 0; r < R; ++r) {
    std::copy_n(ids.host + r * k, k, scores.ids + to[size_t(r)] * k);
    std::copy_n(logprobs.host + r * k, k, scores.top_logprobs + to[size_t(r)] * k);
  }
}

/// The ranges of loss rows of the ranks that share the micro-batch.
std::vector<model::RowRange> outputs_of(const PackedBatch& packed) {
  std::vector<model::RowRange> outputs;
  for (const model::RowBlock& block : packed.blocks()) outputs.push_back(block.outputs);
  return outputs;
}

/// dLoss/ddivergence of each token in a sequence with n loss tokens.
double divergence_scale(const TrainingBatch& batch, const StepOptions& o, int64_t n) {
  const double coef = double(o.divergence.coef);
  if (!o.divergence.by_sequence) return coef / double(batch.step.counted_tokens);
  return coef / (double(batch.step.sequences) * (o.sequence_weight == kernels::SequenceWeight::kLength ? 1.0 : double(n)));
}

void lay_slopes(const Stream& stream, const TrainingBatch& batch, const StepOptions& o, const PackedBatch& packed) {
  zero(stream, packed.divergences.device, float_bytes(packed.loss_rows()));
  for (int64_t s = 0; s + 1 < packed.loss_starts.size; ++s) {
    const int32_t first = packed.loss_starts.host[s], n = packed.loss_starts.host[s + 1] - first;
    if (n > 0) std::fill_n(packed.slopes.host + first, n, float(divergence_scale(batch, o, n)));
  }
  upload(stream, packed.slopes.device, packed.slopes.host, float_bytes(packed.loss_rows()));
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

void add_router_losses(const MicroBatch& which, const double* terms, StepLosses& losses) {
  for (size_t k = 0; k < which.sequences.size(); ++k) {
    const int32_t i = which.sequences[k];
    losses.router[size_t(i)] = terms[k];
    losses.loss[size_t(i)] += terms[k];
    if (!std::isfinite(terms[k]) && (losses.first_bad < 0 || i < losses.first_bad)) losses.first_bad = i;
  }
}

/// The router's auxiliary losses with their factors: each coefficient divided by (layers with experts) x
/// (sequences).
model::RouterTerms router_terms(const model::ModelConfig& config, const RouterLoss& o, const kernels::StepNormalizer& step, const PackedBatch& packed) {
  int64_t layers = 0;
  for (int64_t l = 0; l < config.layers; ++l) layers += config.mixes(l);
  const double all = double(layers) * double(step.sequences);
  return {.balance_coef = double(o.balance_coef) / all, .z_coef = double(o.z_coef) / all, .starts = packed.loss_starts.view(), .losses = packed.router_losses.device};
}

/// The micro-batch's rows, set up so that the backward counts each expert's rows and adds the router's
/// auxiliary losses.
model::PackedRows counting(const PackedBatch& packed, const model::ModelConfig& config, const TrainingBatch& batch, const StepOptions& o) {
  model::PackedRows rows = packed.rows();
  if (!config.mixes()) return rows;
  rows.expert_rows = {packed.expert_rows.device, DType::kF64, {config.layers, config.experts.count}};
  if (o.router.on()) rows.router = router_terms(config, o.router, batch.step, packed);
  return rows;
}

/// Clears what the backward adds to, also for a step whose backward is left out.
void clear_sums(const Stream& stream, const PackedBatch& packed) {
  if (packed.expert_rows.size == 0) return;
  for (const auto* sums : {&packed.router_losses, &packed.expert_rows}) zero(stream, sums->device, sums->size * int64_t(sizeof(double)));
}

void add_expert_rows(const PackedBatch& packed, StepReport& report) {
  const int64_t n = packed.expert_rows.size;
  report.expert_rows.resize(size_t(n));
  std::transform(packed.expert_rows.host, packed.expert_rows.host + n, report.expert_rows.begin(), report.expert_rows.begin(), std::plus<>());
}

/// Arguments of the head's backward for a block of rows; without scratch, teacher and those that depend on
/// the model.
kernels::LmHeadGradArgs head_gradient(const PackedBatch& packed, const TensorView& hidden, const TensorView& dhidden, const StepOptions& o,
                                      const PassWeights& weights, const model::BlockGradients& block) {
  const auto of_block = [&](const TensorView& view) { return model::rows_of(view, block.rows.outputs); };
  return {.h = of_block(hidden),
          .w = weights.forward.head,
          .w_t = weights.transposed_head,
          .targets = of_block(packed.own(packed.targets)),
          .lse = of_block(packed.own(packed.lse)),
          .entropies = of_block(packed.own(packed.entropies)),
          .a = of_block(packed.own(packed.a)),
          .b = o.entropy_coef != 0.0f ? of_block(packed.own(packed.b)) : TensorView{},
          .dh = of_block(dhidden),
          .dw = block.grads.head(),
          .temperature = o.temperature,
          .slopes = o.divergence.on() ? of_block(packed.own(packed.slopes)) : TensorView{},
          .divergences = of_block(packed.own(packed.divergences))};
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
      packed_(stream, options.deterministic, expert_counts(config)) {}

void MicroBatchPass::reserve(int64_t tokens) {
  if (tokens <= reserved_tokens_) return;
  const int64_t room = std::max(tokens, options_.packed_tokens);
  arena_ = Arena();  // releases the old block first
  reserved_tokens_ = 0;
  arena_ = Arena(pass_arena_bytes(stream_, config_, room, options_), "trainer activations", tensor_memory(stream_));
  reserved_tokens_ = room;
}

model::Activations MicroBatchPass::forward(const TrainingBatch& batch, const MicroBatch& which, const Reads& reads,
                                           int64_t blocks, float temperature) {
  arena_.release(0);
  packed_.gather(batch, which, reads.ranks ? reads.ranks->ranks() : blocks, reads.ranks);
  if (reads.ranks) reads.ranks->begin(packed_.ids.size);
  model::Activations saved = model::forward_training(stream_, reads.weights, packed_.rows(reads.counts), arena_, options_.recompute);
  dhidden_ = reads.transposed_head ? arena_.take_view(DType::kF32, {saved.hidden.dim(0), config_.width}) : TensorView{};
  kernels::lm_head(stream_, {.h = saved.hidden,
                             .w = reads.weights.head,
                             .targets = packed_.own(packed_.targets),
                             .logprobs = packed_.own(packed_.logprobs),
                             .entropies = packed_.own(packed_.entropies),
                             .lse = packed_.own(packed_.lse),
                             .temperature = temperature,
                             .scratch = &arena_,
                             .softcap = config_.logit_softcap,
                             .w_t = reads.transposed_head ? *reads.transposed_head : kernels::PackedMatrix{},
                             .dh = dhidden_});
  if (reads.ranks) reads.ranks->share(stream_, outputs_of(packed_), {packed_.logprobs.device, packed_.entropies.device});
  return saved;
}

void MicroBatchPass::score(const TrainingBatch& batch, const MicroBatch& which, const Reads& reads, float temperature,
                           const TokenScores& scores) {
  const model::Activations saved = forward(batch, which, reads, 1, temperature);
  settle(reads.ranks);
  packed_.fetch();
  scatter(batch, which, packed_.logprobs.host, scores.logprobs);
  if (scores.entropies) scatter(batch, which, packed_.entropies.host, scores.entropies);
  if (!scores.teaches()) return;
  const std::vector<int32_t> numbers = numbers_of(batch, which, packed_.own_rows());
  if (scores.hidden) return keep_rows(stream_, saved.hidden, numbers, scores);
  keep_likeliest(stream_, {.h = saved.hidden, .w = reads.weights.head, .temperature = temperature, .scratch = &arena_, .softcap = config_.logit_softcap}, numbers, scores);
}

void MicroBatchPass::train(const TrainingBatch& batch, const MicroBatch& which, const StepOptions& o,
                           const PassWeights& weights, StepLosses& losses, StepReport& report) {
  const bool regularized = o.kl_coef != 0.0f || o.entropy_coef != 0.0f;
  std::optional<Stopwatch> watch(report.forward_seconds);
  const Reads reads{weights.forward, weights.ranks, scales(o) ? &weights.transposed_head : nullptr, &report.routes};
  const model::Activations saved = forward(batch, which, reads, int64_t(weights.grads.size()), o.temperature);
  if (o.objective == kernels::Objective::kCustom) settle(weights.ranks), ask_slopes(batch, o, packed_);
  if (regularized) kernels::policy_loss(stream_, packed_.loss_args(batch, o, false));
  kernels::policy_loss(stream_, packed_.loss_args(batch, o, true));
  watch.emplace(report.backward_seconds);
  kernels::Divergence taught;
  if (o.divergence.on()) {
    lay_slopes(stream_, batch, o, packed_);
    taught = weights.teacher->of(stream_, batch, o, numbers_of(batch, which, packed_.own_rows()), config_.vocabulary);
  }
  clear_sums(stream_, packed_);
  if (losses.first_bad < 0) backward(batch, saved, taught, o, weights);
  if (o.divergence.on() && weights.ranks) weights.ranks->share(stream_, outputs_of(packed_), {packed_.divergences.device});
  settle(weights.ranks);
  collect(which, regularized, losses);
  if (o.divergence.on()) add_divergences(packed_, batch, which, o, losses, report);
  if (o.router.on()) add_router_losses(which, packed_.router_losses.host, losses);
  add_expert_rows(packed_, report);
  watch.emplace(report.forward_seconds);
  keep_tokens(batch, which, report);
}

void MicroBatchPass::backward(const TrainingBatch& batch, const model::Activations& saved, const kernels::Divergence& taught, const StepOptions& o, const PassWeights& weights) {
  const std::vector<model::BlockGradients> blocks = blocks_of(packed_, weights);
  if (scales(o)) {
    kernels::scale_rows(stream_, packed_.own(packed_.a), dhidden_);
  } else {
    dhidden_ = arena_.take_view(activation_dtype(stream_), {saved.hidden.dim(0), config_.width});
    for (const model::BlockGradients& block : blocks) {
      const kernels::Divergence divergence = rows_of(taught, block.rows.outputs);
      kernels::LmHeadGradArgs args = head_gradient(packed_, saved.hidden, dhidden_, o, weights, block);
      args.scratch = &arena_, args.chunk = options_.head_rows, args.softcap = config_.logit_softcap;
      if (o.divergence.on()) args.teacher = &divergence;
      kernels::lm_head_grad(stream_, args);
    }
  }
  model::backward(stream_, weights.forward, counting(packed_, config_, batch, o), saved, dhidden_, blocks, arena_);
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
