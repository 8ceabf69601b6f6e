#include "trainer/update.h"

#include <algorithm>
#include <cmath>

#include "kernels/optimizer.h"
#include "trainer/shard_layout.h"

namespace hone::trainer {
namespace {

int64_t sums_bytes(const model::ModelConfig& model) { return Arena::rounded((model.layers + 1) * 8 + 64); }

/// Scratch bytes for norms of n elements.
int64_t scratch_bytes(const Stream& stream, int64_t n) {
  return Arena::rounded(kernels::sum_of_squares_scratch_bytes(stream, n));
}

}  // namespace

int64_t update_bytes(const Stream& stream, const model::ModelConfig& model, int64_t trained) {
  return sums_bytes(model) + scratch_bytes(stream, trained);
}

Update::Update(const Stream& stream, model::TensorBlock& parameters, const OptimizerConfig& config)
    : stream_(stream),
      parameters_(parameters),
      sums_(stream, sums_bytes(parameters.config()), "gradient norms"),
      scratch_(scratch_bytes(stream, parameters.flat().numel()), "gradient norms", tensor_memory(stream)) {
  reset(config);
  for (const model::TensorSpec& spec : parameters.specs()) {
    layer_of_.push_back(layer_of(spec, parameters.config().layers));
  }
}

Optimizer& Update::optimizer() {
  return optimizer_ ? *optimizer_ : optimizer_.emplace(parameters_.config(), parameters_.specs(), config_, stream_);
}

void Update::reset(const OptimizerConfig& config) {
  check_optimizer(config);
  optimizer_.reset();
  config_ = config;
}

double Update::sum_of_squares(const TensorView& x) {
  sums_.clear();
  const auto total = sums_.take<double>(1);
  kernels::sum_of_squares(stream_, {.x = x, .total = total.view(), .scratch = &scratch_});
  sums_.download(stream_, 0, sums_.used());
  return *total.host;
}

/// Sums of squared gradients: one for each layer, and one for the tensors outside of layers; in the
/// gradients' memory.
SharedArrays::Array<double> Update::layer_squares(const model::TensorBlock& grads) {
  sums_.clear();
  const auto squares = sums_.take<double>(parameters_.config().layers + 1);
  zero(stream_, squares.device, squares.size * int64_t(sizeof(double)));
  for (size_t i = 0; i < layer_of_.size(); ++i) {
    const model::TensorSpec& spec = grads.specs()[i];
    kernels::sum_of_squares(stream_, {.x = f32(grads.view(spec).as<float>(), {spec.numel()}),
                                      .total = {squares.device + layer_of_[i], DType::kF64, {1}},
                                      .scratch = &scratch_,
                                      .accumulate = true});
  }
  return squares;
}

void Update::report_norms(const SharedArrays::Array<double>& squares, StepReport& report) {
  double total = 0.0;
  report.layer_grad_norms.clear();
  for (int64_t layer = 0; layer < squares.size; ++layer) {
    total += squares.host[layer];
    report.layer_grad_norms.push_back(std::sqrt(squares.host[layer]));
  }
  report.grad_norm = std::sqrt(total);
}

void Update::apply(const model::TensorBlock& grads, const StepOptions& o, PackedWeights& weights, StepReport& report) {
  const auto squares = layer_squares(grads);
  const Optimizer::Rates rates{o.lr, o.muon_lr, double(config_.gradient_clip)};
  if (!report.skipped) {
    const PackedWeights::Snapshot next = weights.next();
    const Optimizer::Applied applied = optimizer().apply(stream_, parameters_, grads, squares.view(), rates,
                                                         weights.parts(next));
    report.skipped = std::isnan(applied.scale);
    report.update_norm = applied.update_norm;
    report.weight_norm = applied.weight_norm;
    if (!report.skipped) weights.advance(next, o.keeps_version ? 0 : 1);
  }
  sums_.download(stream_, 0, sums_.used());
  report_norms(squares, report);
  if (report.skipped) report.weight_norm = std::sqrt(sum_of_squares(parameters_.flat()));
  else if (rates.clip > 0.0) report.grad_scale = std::min(1.0, rates.clip / (report.grad_norm + 1e-6));
}

}  // namespace hone::trainer
