#include "trainer/trainer.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/device.h"
#include "core/stopwatch.h"
#include "model/network.h"
#include "model/adapters_file.h"
#include "trainer/adapted_weights.h"
#include "trainer/checkpoint.h"
#include "trainer/memory.h"
#include "trainer/micro_batch_pass.h"
#include "trainer/packed_weights.h"
#include "trainer/packer.h"
#include "trainer/trained_gradients.h"
#include "trainer/training_step.h"
#include "trainer/update.h"

namespace hone::trainer {
namespace {

using model::Parameters;
using model::WeightSnapshot;

void check_adapters(const TrainerConfig& c) {
  if (c.device == Stream::Backend::kCuda) model::check_adapters_for_gpu(c.adapters);
  if (c.optimizer.kind == OptimizerConfig::Kind::kAdamW) return;
  fail(Code::kUnsupported, "trainer: adapters are trained by AdamW; Muon would make B and A orthogonal, not B A.");
}

const TrainerConfig& checked(const model::ModelConfig& model, const TrainerConfig& c) {
  if (c.packed_tokens < 1) {
    fail(Code::kConfig, "trainer: packed_tokens is %lld; it must be at least 1.", (long long)c.packed_tokens);
  }
  if (c.weight_storage != DType::kF32 && c.weight_storage != DType::kBF16) {
    fail(Code::kConfig, "trainer: weight_storage is %s; it must be f32 or bf16.", dtype_name(c.weight_storage));
  }
  if (c.device == Stream::Backend::kCuda) model::check_for_gpu(model);
  else if (c.arithmetic == kernels::Arithmetic::kBF16 && c.weight_storage != DType::kBF16) {
    fail(Code::kConfig, "trainer: bf16 arithmetic multiplies weights stored as bf16; weight_storage is %s.", dtype_name(c.weight_storage));
  }
  check_optimizer(c.optimizer);
  if (c.adapters.on()) check_adapters(c);
  check_hybrid(model, c);
  return c;
}

std::vector<MicroBatch> pack(const TrainingBatch& batch, int64_t packed_tokens) {
  std::vector<int64_t> lengths;
  lengths.reserve(size_t(batch.sequences));
  for (int64_t i = 0; i < batch.sequences; ++i) lengths.push_back(batch.cu_seqlens[i + 1] - batch.cu_seqlens[i]);
  return pack_sequences(lengths, packed_tokens);
}

/// Packs sequences into micro-batches of at most `budget` tokens, and reserves memory for them. ranks: the
/// team that shares each micro-batch, or null.
std::vector<MicroBatch> prepare(const TrainingBatch& batch, int64_t budget, MicroBatchPass& pass, SequenceRanks* ranks) {
  std::vector<MicroBatch> micro_batches = pack(batch, budget);
  for (const MicroBatch& which : micro_batches) {
    pass.reserve(ranks ? ranks->rows(which.tokens) : which.tokens);
    if (ranks) ranks->reserve(which.tokens);
  }
  return micro_batches;
}

/// Allocates buffers for the batch's tokens.
StepReport blank_report(const TrainingBatch& batch, const StepOptions& o) {
  const auto T = size_t(batch.cu_seqlens[batch.sequences]);
  StepReport report;
  report.trained_tokens = batch.step.counted_tokens;
  report.packed_tokens = int64_t(T);
  report.logprobs.resize(T);
  report.entropies.resize(T);
  report.ratios.resize(T);
  report.clipped.resize(T);
  if (o.correction != kernels::Correction::kNone) report.weights.resize(T);
  if (o.divergence.on()) report.divergences.resize(T);
  return report;
}

}  // namespace

struct Trainer::Impl {
  model::ModelConfig config;
  TrainerConfig options;
  Device device;
  const Stream& stream;
  // with adapters the frozen base; in host memory if it is a frozen base or ranks shard the weights
  Parameters parameters;
  BaseSums base_sums;  // of the frozen base, if they are known
  std::optional<model::Adapters> adapters;
  std::optional<AdaptedWeights> adapted;
  TrainedGradients grads;
  PackedWeights weights;
  MicroBatchPass pass;
  Update update;
  TeacherHead teacher;
  std::unique_ptr<TrainingStep> work;

  Impl(const model::ModelConfig& model, const TrainerConfig& trainer, ThreadPool* pool, dist::Communicator* ranks)
      : config(model),
        options(checked(model, trainer)),
        device(trainer.device, pool),
        stream(device.stream()),
        parameters(model, options.adapters.on() || options.sharding.stage == Sharding::Stage::kParameters ? Stream{.pool = pool} : stream),
        adapters(made_adapters()),
        grads(stream, config, adapters ? &*adapters : nullptr),
        weights(stream, parameters, options.weight_storage, adapted_weights(), options.arithmetic),
        pass(stream, config, options),
        update(stream, trained(), options.optimizer),
        work(make_step({stream, {trained(), adapters ? nullptr : &parameters, adapters ? &*adapters : nullptr}, grads, weights, update}, options, ranks)) {}

  std::optional<model::Adapters> made_adapters() const {
    if (!options.adapters.on()) return {};
    return std::optional<model::Adapters>(std::in_place, config, options.adapters, stream);
  }
  AdaptedWeights* adapted_weights() { return adapters ? &adapted.emplace(stream, parameters, *adapters) : nullptr; }
  model::TensorBlock& trained() { return adapters ? adapters->block() : parameters; }
  PassWeights pass_weights(std::vector<model::Gradients> where);
  CheckpointDraft draft(const std::string& extra);
  std::optional<AdapterSource> adapter_source(int64_t bucket_bytes);
  StepReport step(const TrainingBatch& batch, const StepOptions& o);
  GradientParts gradient_parts(const TrainingBatch& batch, const StepOptions& o, const int32_t* part_of, int32_t parts);
  bool has_bad_gradient(const TrainingBatch& batch, const StepOptions& o, int64_t sequence);
};

PassWeights Trainer::Impl::pass_weights(std::vector<model::Gradients> where) {
  const WeightSnapshot& packed = work->forward_weights();
  return {packed, model::transposed_head(stream, packed, parameters), std::move(where), work->team(), &teacher};
}

StepReport Trainer::Impl::step(const TrainingBatch& batch, const StepOptions& o) {
  StepReport report;
  std::vector<MicroBatch> micro_batches;
  const auto begin = [&] {
    double pack_seconds = 0;
    std::optional<Stopwatch> watch(pack_seconds);
    check_batch(batch, config, &o, options.device), teacher.check(batch, o, config.vocabulary);
    if (o.router.on() && work->team()) {
      fail(Code::kUnsupported, "step: terms about routers are of whole sequences, and sharding.sequence %lld divides them; leave one of the two out.",
           (long long)options.sharding.sequence);
    }
    report = blank_report(batch, o);
    micro_batches = prepare(batch, options.packed_tokens * options.sharding.sequence, pass, work->team());
    pass_weights(work->gradients());
    watch.reset();
    report.pack_seconds = pack_seconds;
  };
  work->begin(begin, batch, o);
  const PassWeights current = pass_weights(work->gradients());
  StepLosses losses(batch.sequences);
  work->compute(batch, micro_batches, [&](const MicroBatch& which) { pass.train(batch, which, o, current, losses, report); }, losses, report);
  for (double loss : losses.loss) report.loss += loss;
  for (double loss : losses.policy) report.policy_loss += loss;
  for (double loss : losses.router) report.router_loss += loss;
  report.non_finite_sequence = losses.first_bad;
  report.skipped = losses.first_bad >= 0;
  report.micro_batches = int64_t(micro_batches.size());
  std::optional<Stopwatch> watch(report.optimizer_seconds);
  work->apply(o, report);
  watch.reset();
  if (!report.skipped || report.non_finite_sequence >= 0) return report;
  const auto is_bad = [&](int64_t sequence) { return has_bad_gradient(batch, o, sequence); };
  report.non_finite_sequence = work->first_bad(batch.sequences, is_bad);
  return report;
}

GradientParts Trainer::Impl::gradient_parts(const TrainingBatch& batch, const StepOptions& o, const int32_t* part_of,
                                            int32_t parts) {
  check_batch(batch, config, &o, options.device), teacher.check(batch, o, config.vocabulary), check_parts(part_of, batch.sequences, parts);
  model::TensorBlock& own = work->own_gradients("gradient_parts");
  PassWeights current = pass_weights({grads.views()});
  current.ranks = nullptr;  // this call runs in a single process
  GradientProducts products(stream, own.flat().numel(), parts);
  StepLosses losses(batch.sequences);
  StepReport unread = blank_report(batch, o);
  GradientParts out;
  for (int32_t part = 0; part < parts; ++part) {
    const std::vector<MicroBatch> micro_batches = pack_part(batch, part_of, part, options.packed_tokens);
    for (const MicroBatch& which : micro_batches) pass.reserve(which.tokens);
    own.zero();
    for (const MicroBatch& which : micro_batches) pass.train(batch, which, o, current, losses, unread);
    products.add(own.flat());
    out.micro_batches += int64_t(micro_batches.size());
  }
  out.products = products.products();
  out.non_finite_sequence = losses.first_bad;
  if (losses.first_bad >= 0) std::fill(out.products.begin(), out.products.end(), std::nan(""));
  return out;
}

/// True if the gradient of a single sequence is not finite. Slow; used only for the error message.
bool Trainer::Impl::has_bad_gradient(const TrainingBatch& batch, const StepOptions& o, int64_t sequence) {
  const auto i = int32_t(sequence);
  StepLosses losses(batch.sequences);
  StepReport unread = blank_report(batch, o);
  const auto train = [&](std::vector<model::Gradients> where) {
    pass.train(batch, {{i}, batch.cu_seqlens[i + 1] - batch.cu_seqlens[i]}, o, pass_weights(std::move(where)), losses, unread);
  };
  return !std::isfinite(work->squares(train));
}

Trainer::Trainer(const model::ModelConfig& model, const TrainerConfig& config, ThreadPool* pool, dist::Communicator* ranks)
    : impl_(std::make_unique<Impl>(model, config, pool, ranks)) {}
Trainer::~Trainer() = default;

Parameters& Trainer::parameters() {
  return impl_->work->fetch_weights(), impl_->parameters.store_as(DType::kF32), impl_->base_sums = {}, impl_->parameters;
}
const model::TensorBlock& Trainer::gradients() const { return impl_->work->summed_gradients(); }
model::TensorBlock& Trainer::trained() { return impl_->work->fetch_weights(), impl_->trained(); }
void Trainer::parameters_changed() { impl_->work->weights_changed(); }
uint32_t Trainer::version() const { return impl_->weights.version(); }
void Trainer::set_version(uint32_t version) { impl_->weights.set_version(version); }
void Trainer::reset_optimizer(const OptimizerConfig& config) {
  TrainerConfig changed = impl_->options;
  changed.optimizer = config;
  if (changed.adapters.on()) check_adapters(changed);
  impl_->work->reset_optimizer(changed);
}

void Trainer::load_adapters(const std::string& directory) {
  if (!impl_->adapters) fail(Code::kConfig, "trainer: made without adapters, so that those of %s have no place.", directory.c_str());
  model::load_adapters(directory, impl_->options.adapters, impl_->adapters->block());
  impl_->work->weights_changed();
}

void Trainer::save_model(const std::string& directory) {
  impl_->work->fetch_weights();
  if (!impl_->adapters) return write_model(directory, impl_->parameters, kShardBytes);
  const Parameters merged = merged_weights(impl_->stream, impl_->parameters, *impl_->weights.snapshot(), *impl_->adapted);
  write_model(directory, merged, kShardBytes);
}

StepReport Trainer::step(const TrainingBatch& batch, const StepOptions& options) {
  const ThreadPool::Occupied busy(impl_->stream.pool);
  return impl_->step(batch, options);
}

GradientParts Trainer::gradient_parts(const TrainingBatch& batch, const StepOptions& options, const int32_t* part_of,
                                      int32_t parts) {
  const ThreadPool::Occupied busy(impl_->stream.pool);
  return impl_->gradient_parts(batch, options, part_of, parts);
}

void Trainer::score(const TrainingBatch& batch, float temperature, float* logprobs, float* entropies) {
  teach(batch, temperature, {logprobs, entropies});
}

void Trainer::teach(const TrainingBatch& batch, float temperature, TokenScores scores) {
  SequenceRanks* const team = impl_->work->team();
  std::vector<MicroBatch> micro_batches;
  scores.width = impl_->config.width;
  const auto begin = [&] {
    check_batch(batch, impl_->config, nullptr, impl_->options.device), check_scoring(temperature, scores, impl_->config);
    micro_batches = prepare(batch, impl_->options.packed_tokens * (team ? team->ranks() : 1), impl_->pass, team);
  };
  const auto one = [&](const MicroBatch& which) {
    impl_->pass.score(batch, which, {impl_->work->forward_weights(), team}, temperature, scores);
  };
  impl_->work->score(begin, batch, temperature, micro_batches, one, scores);
}
TeacherHead& Trainer::teacher() { return impl_->teacher; }

const Stream& Trainer::stream() const { return impl_->stream; }

std::shared_ptr<const WeightSnapshot> Trainer::snapshot() {
  impl_->work->fetch_weights();
  std::shared_ptr<const WeightSnapshot> current = impl_->weights.snapshot();
  synchronize(impl_->stream);  // waits, because an engine reads the snapshot on its own stream
  return current;
}

std::optional<AdapterSource> Trainer::Impl::adapter_source(int64_t bucket_bytes) {
  if (!adapters || stream.is_cuda()) return {};
  sum_base(parameters, bucket_bytes, base_sums);
  return AdapterSource{parameters, base_sums, *adapters, weights.version(), options.weight_storage, options.arithmetic};
}
std::optional<AdapterSource> Trainer::adapter_source(int64_t bucket_bytes) { return impl_->adapter_source(bucket_bytes); }

CheckpointDraft Trainer::Impl::draft(const std::string& extra) {
  work->fetch_weights();
  return work->draft(extra, options.adapters);
}

void Trainer::save(const std::string& directory, const std::string& extra_json) {
  impl_->work->write(directory, impl_->draft(extra_json));
}

void Trainer::stage(const std::string& extra_json, StagedCheckpoint& into) {
  impl_->work->together("stage", [&] {
    into.stage(impl_->draft(extra_json), impl_->stream.pool);
    synchronize(impl_->stream);
  });
}

std::string Trainer::load(const std::string& directory) {
  CheckpointState state = impl_->work->read(directory, impl_->options.adapters);
  impl_->weights.set_version(state.version);
  impl_->work->weights_changed();
  return std::move(state.extra);
}

}  // namespace hone::trainer
