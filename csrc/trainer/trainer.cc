#include "trainer/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>

#include "kernels/lm_head.h"
#include "kernels/optimizer.h"
#include "model/network.h"
#include "trainer/checkpoint.h"
#include "trainer/micro_batch.h"
#include "trainer/optimizer.h"
#include "trainer/packer.h"

namespace hone::trainer {
namespace {

using model::Parameters;
using model::WeightSnapshot;

/// Adds the seconds of a scope to a total.
class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(total), start_(std::chrono::steady_clock::now()) {}
  ~Stopwatch() { total_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& total_;
  std::chrono::steady_clock::time_point start_;
};

TensorView floats(const std::vector<float>& v) { return f32(v.data(), {int64_t(v.size())}); }
TensorView optional_floats(const std::vector<float>& v) { return v.empty() ? TensorView{} : floats(v); }

}  // namespace

struct Trainer::Impl {
  model::ModelConfig config;
  TrainerConfig options;
  Stream stream;
  Parameters parameters, grads;
  Optimizer optimizer;
  uint32_t version = 0;
  std::shared_ptr<const WeightSnapshot> weights;  // packs of the current parameters, unless stale
  bool stale = true, transposed_stale = true;
  Arena transposed_arena;
  model::TransposedWeights transposed;
  Arena arena;  // activations, head and backward of one micro-batch
  int64_t arena_tokens = 0;
  PackedBatch packed;

  Impl(const model::ModelConfig& model, const TrainerConfig& trainer, ThreadPool* pool)
      : config(model), options(trainer), parameters(model), grads(model), optimizer(model, trainer.optimizer) {
    stream.pool = pool;
    if (options.packed_tokens < 1) {
      fail(Code::kConfig, "trainer: packed_tokens is %lld; it must be at least 1.", (long long)options.packed_tokens);
    }
    if (options.weight_storage != DType::kF32 && options.weight_storage != DType::kBF16) {
      fail(Code::kConfig, "trainer: weight_storage is %s; it must be f32 or bf16.", dtype_name(options.weight_storage));
    }
  }

  void weights_changed() { stale = transposed_stale = true; }

  const std::shared_ptr<const WeightSnapshot>& current_weights() {
    if (stale) {
      weights = WeightSnapshot::make(stream, parameters, version, options.weight_storage, weights.get());
      stale = false;
    }
    return weights;
  }

  void refresh_transposed() {
    if (!transposed_stale) return;
    if (transposed_arena.capacity() == 0) {
      transposed_arena = Arena(model::transposed_bytes(stream, config, options.weight_storage), "transposed weights");
    }
    transposed_arena.release(0);
    transposed = model::transpose_weights(stream, parameters, *weights, transposed_arena);
    transposed_stale = false;
  }

  /// Planned for packed_tokens; only a longer single sequence makes it grow.
  void reserve(int64_t tokens) {
    if (tokens <= arena_tokens) return;
    arena_tokens = std::max(tokens, options.packed_tokens);
    const int64_t rows = Arena::rounded(arena_tokens * config.width * int64_t(sizeof(float)));
    arena = Arena();  // give the old block back first
    arena = Arena(model::training_arena_bytes(stream, config, arena_tokens, arena_tokens) + rows +
                      kernels::lm_head_scratch_bytes(stream, arena_tokens, config.width, config.vocabulary),
                  "trainer activations");
  }

  std::vector<MicroBatch> pack(const TrainingBatch& batch) const {
    std::vector<int64_t> lengths;
    lengths.reserve(size_t(batch.sequences));
    for (int64_t i = 0; i < batch.sequences; ++i) lengths.push_back(batch.cu_seqlens[i + 1] - batch.cu_seqlens[i]);
    return pack_sequences(lengths, options.packed_tokens);
  }

  /// Log-prob and entropy of every loss row, also spread over the packed tokens.
  void run_head(const TensorView& h, float temperature) {
    kernels::lm_head(stream, {.h = h,
                              .w = weights->head,
                              .targets = i32(packed.targets.data(), {packed.loss_rows()}),
                              .logprobs = floats(packed.row_logprobs),
                              .entropies = floats(packed.row_entropies),
                              .lse = floats(packed.row_lse),
                              .temperature = temperature,
                              .scratch = &arena});
    for (size_t r = 0; r < packed.targets.size(); ++r) {
      packed.logprobs[size_t(packed.loss_token[r])] = packed.row_logprobs[r];
      packed.entropies[size_t(packed.loss_token[r])] = packed.row_entropies[r];
    }
  }

  /// Coefficients of the micro-batch; sequence_losses hold its loss.
  void run_loss(const TrainingBatch& batch, const StepOptions& o, float kl_coef, float entropy_coef) {
    const int64_t T = packed.tokens(), S = int64_t(packed.sequence_losses.size());
    kernels::policy_loss(
        stream, {.objective = o.objective,
                 .sequence_weight = o.sequence_weight,
                 .logprobs = floats(packed.logprobs),
                 .behavior_logprobs = optional_floats(packed.behavior),
                 .reference_logprobs = optional_floats(packed.reference),
                 .entropies = floats(packed.entropies),
                 .mask = u8(packed.mask.data(), {T}),
                 .cu_seqlens = i32(packed.cu_seqlens.data(), {S + 1}),
                 .advantages = optional_floats(packed.advantages),
                 .token_advantages = optional_floats(packed.token_advantages),
                 .group_sizes = packed.group_sizes.empty() ? TensorView{} : i32(packed.group_sizes.data(), {S}),
                 .a = floats(packed.a),
                 .b = floats(packed.b),
                 .ratios = floats(packed.ratios),
                 .clipped = u8(packed.clipped.data(), {T}),
                 .sequence_losses = TensorView(packed.sequence_losses.data(), DType::kF64, {S}),
                 .step = batch.step,
                 .clip_low = o.clip_low,
                 .clip_high = o.clip_high,
                 .kl_coef = kl_coef,
                 .entropy_coef = entropy_coef});
  }

  /// Gradients of the head and of everything below it are added to `grads`.
  void run_backward(const model::Activations& saved, const StepOptions& o) {
    const TensorView dh = arena.take_view(DType::kF32, {packed.loss_rows(), config.width});
    for (size_t r = 0; r < packed.targets.size(); ++r) {
      packed.row_a[r] = packed.a[size_t(packed.loss_token[r])];
      packed.row_b[r] = packed.b[size_t(packed.loss_token[r])];
    }
    kernels::lm_head_grad(stream, {.h = saved.hidden,
                                   .w = weights->head,
                                   .w_t = transposed.head,
                                   .targets = i32(packed.targets.data(), {packed.loss_rows()}),
                                   .lse = floats(packed.row_lse),
                                   .entropies = floats(packed.row_entropies),
                                   .a = floats(packed.row_a),
                                   .b = o.entropy_coef != 0.0f ? floats(packed.row_b) : TensorView{},
                                   .dh = dh,
                                   .dw = grads.head(),
                                   .temperature = o.temperature,
                                   .scratch = &arena});
    model::backward(stream, *weights, transposed, packed.rows(), saved, dh, grads, arena);
  }

  /// Per-sequence losses and where they stopped being numbers.
  struct LossTotals {
    std::vector<double> loss, policy;  // [S]
    int64_t first_bad = -1;
  };

  void record(const TrainingBatch& batch, const MicroBatch& which, std::vector<double>& out, int64_t& first_bad) const {
    (void)batch;
    for (size_t k = 0; k < which.sequences.size(); ++k) {
      const int32_t i = which.sequences[k];
      out[size_t(i)] = packed.sequence_losses[k];
      if (!std::isfinite(out[size_t(i)]) && (first_bad < 0 || i < first_bad)) first_bad = i;
    }
  }

  void train_micro_batch(const TrainingBatch& batch, const MicroBatch& which, const StepOptions& o, LossTotals& totals,
                         StepReport& report) {
    const int64_t mark = arena.mark();
    std::optional<Stopwatch> watch(report.forward_seconds);
    packed.gather(batch, which);
    const model::Activations saved = model::forward_training(stream, *weights, packed.rows(), arena);
    run_head(saved.hidden, o.temperature);
    if (o.kl_coef != 0.0f || o.entropy_coef != 0.0f) {
      run_loss(batch, o, 0.0f, 0.0f);
      record(batch, which, totals.policy, totals.first_bad);
    }
    run_loss(batch, o, o.kl_coef, o.entropy_coef);
    record(batch, which, totals.loss, totals.first_bad);
    watch.emplace(report.backward_seconds);
    // Once one loss is not a number the step is lost; later micro-batches are only measured.
    if (totals.first_bad < 0) run_backward(saved, o);
    arena.release(mark);
  }

  void keep_tokens(const TrainingBatch& batch, const MicroBatch& which, StepReport& report) const {
    scatter(batch, which, packed.logprobs, report.logprobs.data());
    scatter(batch, which, packed.entropies, report.entropies.data());
    scatter(batch, which, packed.ratios, report.ratios.data());
    scatter(batch, which, packed.clipped, report.clipped.data());
  }

  /// Squared norms per layer, summed tensor by tensor in order; returns the global norm.
  double gradient_norm(std::vector<double>& layers) const {
    layers.assign(size_t(config.layers) + 1, 0.0);
    const std::string prefix = "model.layers.";
    for (const model::TensorSpec& spec : grads.specs()) {
      const bool inside = spec.name.compare(0, prefix.size(), prefix) == 0;
      const size_t layer = inside ? size_t(std::atoll(spec.name.c_str() + prefix.size())) : size_t(config.layers);
      layers[layer] += kernels::sum_of_squares(stream, f32(grads.view(spec).as<float>(), {spec.numel()}));
    }
    double total = 0.0;
    for (double& layer : layers) {
      total += layer;
      layer = std::sqrt(layer);
    }
    return std::sqrt(total);
  }

  /// The first sequence whose gradient alone is not finite, or -1. Slow; only for the message.
  int64_t find_bad_gradient(const TrainingBatch& batch, const StepOptions& o) {
    for (int32_t i = 0; i < batch.sequences; ++i) {
      grads.zero();
      LossTotals totals{std::vector<double>(size_t(batch.sequences)), std::vector<double>(size_t(batch.sequences)), -1};
      StepReport unused;
      train_micro_batch(batch, {{i}, batch.cu_seqlens[i + 1] - batch.cu_seqlens[i]}, o, totals, unused);
      if (!std::isfinite(kernels::sum_of_squares(stream, grads.flat()))) return i;
    }
    return -1;
  }

  void update(const TrainingBatch& batch, const StepOptions& o, StepReport& report) {
    report.grad_norm = gradient_norm(report.layer_grad_norms);
    if (report.non_finite_sequence < 0 && !std::isfinite(report.grad_norm)) {
      report.skipped = true;
      report.non_finite_sequence = find_bad_gradient(batch, o);
    }
    const Stopwatch watch(report.optimizer_seconds);
    if (report.skipped) {
      report.weight_norm = std::sqrt(kernels::sum_of_squares(stream, parameters.flat()));
      return;
    }
    const double clip = options.optimizer.gradient_clip;
    if (clip > 0.0) report.grad_scale = std::min(1.0, clip / (report.grad_norm + 1e-6));
    const UpdateNorms norms =
        optimizer.apply(stream, parameters, grads, o.lr, o.muon_lr, float(report.grad_scale));
    report.update_norm = norms.update;
    report.weight_norm = norms.weight;
    ++version;
    weights_changed();
  }

  StepReport step(const TrainingBatch& batch, const StepOptions& o) {
    check_batch(batch, config, &o);
    StepReport report;
    const size_t T = size_t(batch.cu_seqlens[batch.sequences]), S = size_t(batch.sequences);
    report.logprobs.resize(T);
    report.entropies.resize(T);
    report.ratios.resize(T);
    report.clipped.resize(T);
    const std::vector<MicroBatch> micro_batches = prepare(batch, true, report);
    LossTotals totals{std::vector<double>(S), std::vector<double>(S), -1};
    grads.zero();
    for (const MicroBatch& which : micro_batches) {
      train_micro_batch(batch, which, o, totals, report);
      keep_tokens(batch, which, report);
    }
    const bool regularized = o.kl_coef != 0.0f || o.entropy_coef != 0.0f;
    for (double loss : totals.loss) report.loss += loss;
    for (double loss : regularized ? totals.policy : totals.loss) report.policy_loss += loss;
    report.non_finite_sequence = totals.first_bad;
    report.skipped = totals.first_bad >= 0;
    report.micro_batches = int64_t(micro_batches.size());
    report.trained_tokens = batch.step.counted_tokens;
    report.packed_tokens = int64_t(T);
    update(batch, o, report);
    return report;
  }

  /// Packs sequences and weights and makes room.
  std::vector<MicroBatch> prepare(const TrainingBatch& batch, bool backward, StepReport& report) {
    const Stopwatch watch(report.pack_seconds);
    std::vector<MicroBatch> micro_batches = pack(batch);
    for (const MicroBatch& which : micro_batches) reserve(which.tokens);
    current_weights();
    if (backward) refresh_transposed();
    return micro_batches;
  }

  void score(const TrainingBatch& batch, float temperature, float* logprobs, float* entropies) {
    check_batch(batch, config, nullptr);
    if (!(temperature > 0)) fail(Code::kConfig, "score: temperature is %g; it must be positive.", double(temperature));
    StepReport unused;
    for (const MicroBatch& which : prepare(batch, false, unused)) {
      const int64_t mark = arena.mark();
      packed.gather(batch, which);
      const model::Activations saved = model::forward_training(stream, *weights, packed.rows(), arena);
      run_head(saved.hidden, temperature);
      arena.release(mark);
      scatter(batch, which, packed.logprobs, logprobs);
      scatter(batch, which, packed.entropies, entropies);
    }
  }
};

Trainer::Trainer(const model::ModelConfig& model, const TrainerConfig& config, ThreadPool* pool)
    : impl_(std::make_unique<Impl>(model, config, pool)) {}
Trainer::~Trainer() = default;

Parameters& Trainer::parameters() { return impl_->parameters; }
const Parameters& Trainer::gradients() const { return impl_->grads; }
void Trainer::parameters_changed() { impl_->weights_changed(); }
uint32_t Trainer::version() const { return impl_->version; }

void Trainer::set_version(uint32_t version) {
  impl_->stale = impl_->stale || version != impl_->version;  // a snapshot carries its version
  impl_->version = version;
}

void Trainer::reset_optimizer(const OptimizerConfig& config) {
  impl_->optimizer = Optimizer(impl_->config, config);
  impl_->options.optimizer = config;
}

StepReport Trainer::step(const TrainingBatch& batch, const StepOptions& options) {
  const ThreadPool::Occupied busy(impl_->stream.pool);
  return impl_->step(batch, options);
}

void Trainer::score(const TrainingBatch& batch, float temperature, float* logprobs, float* entropies) {
  impl_->score(batch, temperature, logprobs, entropies);
}

std::shared_ptr<const WeightSnapshot> Trainer::snapshot() { return impl_->current_weights(); }

void Trainer::save(const std::string& directory, const std::string& extra_json) {
  const CheckpointState state{impl_->version, impl_->optimizer.steps, impl_->options.optimizer.kind, extra_json};
  write_checkpoint(directory, state, impl_->parameters, impl_->optimizer, kShardBytes);
}

std::string Trainer::load(const std::string& directory) {
  CheckpointState state = read_checkpoint(directory, impl_->parameters, impl_->optimizer);
  impl_->version = state.version;
  impl_->weights_changed();
  return std::move(state.extra);
}

}  // namespace hone::trainer
