#include "trainer/optimizer.h"

#include <algorithm>
#include <cmath>

#include "kernels/optimizer.h"

namespace hone::trainer {
namespace {

// Matrices up to this size are updated side by side, one per thread: their products are too small to split.
constexpr int64_t kSmallMatrix = 1 << 17;

}  // namespace

void check_optimizer(const OptimizerConfig& c) {
  const auto rate = [](const char* field, double value, double limit) {
    if (value >= 0.0 && value < limit) return;
    fail(Code::kConfig, "optimizer: %s is %g; it must be in [0, %g).", field, value, limit);
  };
  rate("beta1", c.beta1, 1.0);
  rate("beta2", c.beta2, 1.0);
  rate("muon_momentum", c.muon_momentum, 1.0);
  rate("weight_decay", c.weight_decay, HUGE_VAL);
  rate("eps", c.eps, HUGE_VAL);
  if (c.eps == 0.0f) fail(Code::kConfig, "optimizer: eps is 0; a weight that never had a gradient would become 0 / 0.");
  rate("gradient_clip", c.gradient_clip, HUGE_VAL);
}

Optimizer::Optimizer(const model::ModelConfig& model, const OptimizerConfig& config, const Stream& stream)
    : config_((check_optimizer(config), config)), m_(model, stream), v_(model, stream) {
  plan(!stream.is_cuda());
  if (!stream.is_cuda()) return;
  reserve(stream, 1);
  sums_ = SharedArrays(stream, int64_t(adamw_.size() + muon_.size() + 2) * 64, "optimizer sums");
}

/// Joined: as few calls of AdamW as there can be. Not so where each tensor has a packed copy of its own.
void Optimizer::plan(bool joined) {
  for (const model::TensorSpec& spec : m_.specs()) {
    const bool muon = config_.kind == OptimizerConfig::Kind::kMuon && spec.matrix;
    const bool decay = config_.decay_all || spec.shape.size() == 2;
    if (muon) {
      muon_.push_back({spec.offset, spec.numel(), decay, spec.shape[0]});
      continue;
    }
    Run* last = adamw_.empty() ? nullptr : &adamw_.back();
    const bool joins = joined && last && last->decay == decay && config_.kind == OptimizerConfig::Kind::kAdamW;
    if (joins) last->count = spec.offset + spec.numel() - last->offset;  // over the alignment gap, which stays 0
    else adamw_.push_back({spec.offset, spec.numel(), decay});
  }
  std::stable_sort(muon_.begin(), muon_.end(), [](const Run& a, const Run& b) { return a.count > b.count; });
}

void Optimizer::reserve(const Stream& stream, size_t slots) {
  while (scratch_.size() < slots) {
    int64_t bytes = 0;
    if (scratch_.empty()) {  // only the first slot meets AdamW, the norms and large matrices
      const int64_t n = m_.flat().dim(0);
      bytes = std::max(kernels::adamw_scratch_bytes(stream, n), kernels::sum_of_squares_scratch_bytes(stream, n));
    }
    for (const Run& run : muon_) {
      if (!scratch_.empty() && run.count > kSmallMatrix) continue;
      bytes = std::max(bytes, kernels::muon_scratch_bytes(stream, run.muon_rows, run.count / run.muon_rows));
    }
    scratch_.emplace_back(bytes, "optimizer", tensor_memory(stream));
  }
}

TensorView Optimizer::Update::packed(const Run& run) const {
  auto part = packs.upper_bound(param + run.offset);  // a part holds several tensors: q, k and v
  if (part == packs.begin()) return {};
  --part;
  const TensorView& all = part->second;
  const int64_t skipped = param + run.offset - part->first;
  return {all.as<std::byte>() + skipped * dtype_bytes(all.dtype), all.dtype, {run.count}};
}

void Optimizer::adamw(const Stream& stream, const Update& update, const Run& run, double* change) {
  const auto part = [&](float* base) { return f32(base + run.offset, {run.count}); };
  kernels::adamw(stream, {.param = part(update.param),
                          .m = part(m_.flat().as<float>()),
                          .v = part(v_.flat().as<float>()),
                          .grad = part(update.grad),
                          .lr = update.lr,
                          .beta1 = config_.beta1,
                          .beta2 = config_.beta2,
                          .eps = config_.eps,
                          .weight_decay = run.decay ? config_.weight_decay : 0.0f,
                          .grad_scale = update.factor,
                          .step = steps,
                          .scale = update.scale,
                          .squared_change = {change, DType::kF64, {1}},
                          .scratch = &scratch_[0],
                          .packed = update.packed(run)});
}

void Optimizer::muon(const Stream& stream, const Update& update, const Run& run, double* change, Arena& scratch) {
  const auto part = [&](float* base) { return f32(base + run.offset, {run.muon_rows, run.count / run.muon_rows}); };
  kernels::muon(stream, {.param = part(update.param),
                         .momentum_buffer = part(m_.flat().as<float>()),
                         .grad = part(update.grad),
                         .lr = update.muon_lr,
                         .momentum = config_.muon_momentum,
                         .weight_decay = run.decay ? config_.weight_decay : 0.0f,
                         .grad_scale = update.factor,
                         .scale = update.scale,
                         .squared_change = {change, DType::kF64, {1}},
                         .scratch = &scratch,
                         .packed = update.packed(run)});
}

Optimizer::DeviceUpdate Optimizer::apply_clipped(const Stream& stream, model::Parameters& parameters,
                                                 const model::Parameters& grads, const TensorView& totals, float lr,
                                                 float muon_lr, double clip,
                                                 const std::vector<model::WeightSnapshot::Part>& packs) {
  ++steps;
  sums_.clear();
  const auto scale = sums_.take<float>(1);
  const auto weight = sums_.take<double>(1), changes = sums_.take<double>(int64_t(adamw_.size() + muon_.size()));
  kernels::gradient_scale(stream, {.totals = totals, .scale = scale.view(), .clip = clip});
  Update update{parameters.flat().as<float>(), grads.flat().as<float>(), lr, muon_lr, 1.0f, scale.view(), {}};
  for (const auto& part : packs) update.packs.emplace(part.from.as<float>(), part.flat());
  double* change = changes.device;
  for (const Run& run : adamw_) adamw(stream, update, run, change++);
  for (const Run& run : muon_) muon(stream, update, run, change++, scratch_[0]);
  kernels::sum_of_squares(stream, {.x = parameters.flat(), .total = weight.view(), .scratch = &scratch_[0]});
  sums_.download(stream, 0, sums_.used());
  DeviceUpdate out;
  out.scale = *scale.host;
  out.norms.weight = std::sqrt(*weight.host);
  if (std::isnan(out.scale)) return --steps, out;
  double moved = 0.0;
  for (int64_t i = 0; i < changes.size; ++i) moved += changes.host[i];
  out.norms.update = std::sqrt(moved);
  return out;
}

void Optimizer::muon_runs(const Stream& stream, const Update& update) {
  size_t small = 0;
  for (; small < muon_.size() && muon_[small].count > kSmallMatrix; ++small) {
    muon(stream, update, muon_[small], &muon_[small].squared_change, scratch_[0]);
  }
  // Twice as many slots as threads; each takes every n-th of the rest, largest first, so that they end together.
  const size_t slots = scratch_.size();
  stream.parallel_for(int64_t(slots), 1, [&](int64_t begin, int64_t end) {
    for (size_t slot = size_t(begin); slot < size_t(end); ++slot) {
      for (size_t i = small + slot; i < muon_.size(); i += slots) {
        muon(Stream{}, update, muon_[i], &muon_[i].squared_change, scratch_[slot]);
      }
    }
  });
}

UpdateNorms Optimizer::apply(const Stream& stream, model::Parameters& parameters, const model::Parameters& grads,
                             float lr, float muon_lr, float grad_scale) {
  ++steps;
  reserve(stream, muon_.empty() || stream.threads() == 1 ? 1 : 2 * size_t(stream.threads()));
  const Update update{parameters.flat().as<float>(), grads.flat().as<float>(), lr, muon_lr, grad_scale, {}, {}};
  double change = 0.0;
  for (Run& run : adamw_) {
    adamw(stream, update, run, &run.squared_change);
    change += run.squared_change;
  }
  muon_runs(stream, update);
  for (const Run& run : muon_) change += run.squared_change;
  return {std::sqrt(change), std::sqrt(kernels::sum_of_squares(stream, parameters.flat()))};
}

}  // namespace hone::trainer
