#include "trainer/optimizer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/optimizer.h"

namespace hone::trainer {
namespace {

// Old values are kept this many at a time to measure the update while they are in cache.
constexpr int64_t kChunk = 1 << 16;
// Matrices up to this size are updated side by side, one per thread: their products are too small to split.
constexpr int64_t kSmallMatrix = 1 << 17;

void check(const OptimizerConfig& c) {
  const auto rate = [](const char* field, double value, double limit) {
    if (value >= 0.0 && value < limit) return;
    fail(Code::kConfig, "optimizer: %s is %g; it must be in [0, %g).", field, value, limit);
  };
  rate("beta1", c.beta1, 1.0);
  rate("beta2", c.beta2, 1.0);
  rate("muon_momentum", c.muon_momentum, 1.0);
  rate("weight_decay", c.weight_decay, HUGE_VAL);
  rate("eps", c.eps, HUGE_VAL);
  rate("gradient_clip", c.gradient_clip, HUGE_VAL);
}

/// Sum of (now - before)^2; `before` is overwritten with the differences.
double squared_change(const Stream& stream, const float* now, float* before, int64_t n) {
  stream.parallel_for(n, kChunk / 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) before[i] = now[i] - before[i];
  });
  return kernels::sum_of_squares(stream, f32(before, {n}));
}

}  // namespace

Optimizer::Optimizer(const model::ModelConfig& model, const OptimizerConfig& config, const Stream& stream)
    : config_((check(config), config)), m_(model, stream), v_(model, stream) {
  plan();
  if (!stream.is_cuda()) return;
  if (!muon_.empty()) fail(Code::kUnsupported, "optimizer: muon runs on the CPU only; use adamw on a GPU.");
  const int64_t n = m_.flat().dim(0);
  const int64_t bytes = std::max(kernels::adamw_scratch_bytes(stream, n), kernels::sum_of_squares_scratch_bytes(stream, n));
  scratch_.emplace_back(bytes, "optimizer", Memory::kDevice);
  sums_ = SharedArrays(stream, int64_t(adamw_.size() + 2) * 64, "optimizer sums");
}

void Optimizer::plan() {
  for (const model::TensorSpec& spec : m_.specs()) {
    const bool muon = config_.kind == OptimizerConfig::Kind::kMuon && spec.matrix;
    const bool decay = config_.decay_all || spec.shape.size() == 2;
    if (muon) {
      muon_.push_back({spec.offset, spec.numel(), decay, spec.shape[0]});
      continue;
    }
    Run* last = adamw_.empty() ? nullptr : &adamw_.back();
    const bool joins = last && last->decay == decay && config_.kind == OptimizerConfig::Kind::kAdamW;
    if (joins) last->count = spec.offset + spec.numel() - last->offset;  // over the alignment gap, which stays 0
    else adamw_.push_back({spec.offset, spec.numel(), decay});
  }
  std::stable_sort(muon_.begin(), muon_.end(), [](const Run& a, const Run& b) { return a.count > b.count; });
}

void Optimizer::reserve(size_t slots) {
  while (scratch_.size() < slots) {
    int64_t bytes = Arena::rounded(kChunk * int64_t(sizeof(float)));
    for (const Run& run : muon_) {
      if (!scratch_.empty() && run.count > kSmallMatrix) continue;  // only the first slot meets large ones
      bytes = std::max(bytes, Arena::rounded(run.count * int64_t(sizeof(float))) +
                                  kernels::muon_scratch_bytes(run.muon_rows, run.count / run.muon_rows));
    }
    scratch_.emplace_back(bytes, "optimizer");
  }
}

kernels::AdamWArgs Optimizer::adamw_args(const Update& update, const Run& run, int64_t at, int64_t n) {
  return {.param = f32(update.param + at, {n}),
          .m = f32(m_.flat().as<float>() + at, {n}),
          .v = f32(v_.flat().as<float>() + at, {n}),
          .grad = f32(update.grad + at, {n}),
          .lr = update.lr,
          .beta1 = config_.beta1,
          .beta2 = config_.beta2,
          .eps = config_.eps,
          .weight_decay = run.decay ? config_.weight_decay : 0.0f,
          .grad_scale = update.scale,
          .step = steps};
}

Optimizer::DeviceUpdate Optimizer::apply_clipped(const Stream& stream, model::Parameters& parameters,
                                                 const model::Parameters& grads, const TensorView& totals, float lr,
                                                 double clip) {
  ++steps;
  sums_.clear();
  const auto scale = sums_.take<float>(1);
  const auto weight = sums_.take<double>(1), changes = sums_.take<double>(int64_t(adamw_.size()));
  kernels::gradient_scale(stream, {.totals = totals, .scale = scale.view(), .clip = clip});
  const Update update{parameters.flat().as<float>(), grads.flat().as<float>(), lr, 1.0f};
  for (size_t i = 0; i < adamw_.size(); ++i) {
    kernels::AdamWArgs args = adamw_args(update, adamw_[i], adamw_[i].offset, adamw_[i].count);
    args.scale = scale.view();
    args.squared_change = {changes.device + i, DType::kF64, {1}};
    args.scratch = &scratch_[0];
    kernels::adamw(stream, args);
  }
  kernels::sum_of_squares(stream, {.x = parameters.flat(), .total = weight.view(), .scratch = &scratch_[0]});
  sums_.download(stream, 0, sums_.used());
  DeviceUpdate out;
  out.scale = *scale.host;
  out.norms.weight = std::sqrt(*weight.host);
  if (std::isnan(out.scale)) return --steps, out;
  double change = 0.0;
  for (int64_t i = 0; i < changes.size; ++i) change += changes.host[i];
  out.norms.update = std::sqrt(change);
  return out;
}

double Optimizer::adamw_run(const Stream& stream, const Run& run, const Update& update) {
  const int64_t mark = scratch_[0].mark();
  float* const old = scratch_[0].take_array<float>(kChunk);
  double change = 0.0;
  for (int64_t at = run.offset; at < run.offset + run.count; at += kChunk) {
    const int64_t n = std::min(kChunk, run.offset + run.count - at);
    std::memcpy(old, update.param + at, size_t(n) * sizeof(float));
    kernels::adamw(stream, adamw_args(update, run, at, n));
    change += squared_change(stream, update.param + at, old, n);
  }
  scratch_[0].release(mark);
  return change;
}

double Optimizer::muon_run(const Stream& stream, const Run& run, const Update& update, Arena& scratch) {
  const int64_t mark = scratch.mark();
  float* const old = scratch.take_array<float>(run.count);
  float* const p = update.param + run.offset;
  const int64_t rows = run.muon_rows, columns = run.count / run.muon_rows;
  std::memcpy(old, p, size_t(run.count) * sizeof(float));
  kernels::muon(stream, {.param = f32(p, {rows, columns}),
                         .momentum_buffer = f32(m_.flat().as<float>() + run.offset, {rows, columns}),
                         .grad = f32(update.grad + run.offset, {rows, columns}),
                         .lr = update.lr,
                         .momentum = config_.muon_momentum,
                         .weight_decay = run.decay ? config_.weight_decay : 0.0f,
                         .grad_scale = update.scale,
                         .scratch = &scratch});
  const double change = squared_change(stream, p, old, run.count);
  scratch.release(mark);
  return change;
}

void Optimizer::muon_runs(const Stream& stream, const Update& update) {
  size_t small = 0;
  for (; small < muon_.size() && muon_[small].count > kSmallMatrix; ++small) {
    muon_[small].squared_change = muon_run(stream, muon_[small], update, scratch_[0]);
  }
  // Twice as many slots as threads; each takes every n-th of the rest, largest first, so that they end together.
  const size_t slots = scratch_.size();
  stream.parallel_for(int64_t(slots), 1, [&](int64_t begin, int64_t end) {
    for (size_t slot = size_t(begin); slot < size_t(end); ++slot) {
      for (size_t i = small + slot; i < muon_.size(); i += slots) {
        muon_[i].squared_change = muon_run(Stream{}, muon_[i], update, scratch_[slot]);
      }
    }
  });
}

UpdateNorms Optimizer::apply(const Stream& stream, model::Parameters& parameters, const model::Parameters& grads,
                             float lr, float muon_lr, float grad_scale) {
  ++steps;
  reserve(muon_.empty() || stream.threads() == 1 ? 1 : 2 * size_t(stream.threads()));
  Update update{parameters.flat().as<float>(), grads.flat().as<float>(), lr, grad_scale};
  double change = 0.0;
  for (const Run& run : adamw_) change += adamw_run(stream, run, update);
  update.lr = muon_lr;
  muon_runs(stream, update);
  for (const Run& run : muon_) change += run.squared_change;
  return {std::sqrt(change), std::sqrt(kernels::sum_of_squares(stream, parameters.flat()))};
}

}  // namespace hone::trainer
