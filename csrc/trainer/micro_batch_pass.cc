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

}  // namespace

int64_t pass_arena_bytes(const Stream& stream, const model::ModelConfig& config, int64_t tokens, const TrainerConfig& options) {
  const model::AdapterConfig& adapters = options.adapters;
  return model::training_bytes(stream, config, tokens, options.recompute, options.sharding.sequence > 1).total() +
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

void MicroBatchPass::train(const TrainingBatch& batch, const MicroBatch& which, const StepOptions& o,
                           const PassWeights& weights, StepLosses& losses, StepReport& report) {
  const bool regularized = o.kl_coef != 0.0f || o.entropy_coef != 0.0f;
  std::optional<Stopwatch> watch(report.forward_seconds);
  const model::Activations saved = forward(batch, which, {weights.forward, weights.ranks}, int64_t(weights.grads.size()), o.temperature);
  if (o.objective == kernels::Objective::kCustom) settle(weights.ranks), ask_slopes(batch, o, packed_);
  if (regularized) kernels::policy_loss(stream_, packed_.loss_args(batch, o, false));
  kernels::policy_loss(stream_, packed_.loss_args(batch, o, true));
  watch.emplace(report.backward_seconds);
  if (losses.first_bad < 0) backward(saved, o, weights);
  settle(weights.ranks);
  collect(which, regularized, losses);
  watch.emplace(report.forward_seconds);
  keep_tokens(batch, which, report);
}

void MicroBatchPass::backward(const model::Activations& saved, const StepOptions& o, const PassWeights& weights) {
  const TensorView dh = arena_.take_view(activation_dtype(stream_), {saved.hidden.dim(0), config_.width});
  const std::vector<model::BlockGradients> blocks = blocks_of(packed_, weights);
  for (const auto& [rows, grads] : blocks) {
    const auto of_block = [&of = rows.outputs](const TensorView& view) { return model::rows_of(view, of); };
    kernels::lm_head_grad(stream_, {.h = of_block(saved.hidden),
                                    .w = weights.forward.head,
                                    .w_t = weights.backward.head,
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
                                    .softcap = config_.logit_softcap});
  }
  model::backward(stream_, weights.forward, weights.backward, packed_.rows(), saved, dh, blocks, arena_);
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
