#include "trainer/optimizer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/optimizer.h"

namespace hone::trainer {
namespace {

// Matrices up to this size are updated concurrently, one per thread, since their products are too small to be
// split.
constexpr int64_t kSmallMatrix = 1 << 17;

/// Splits a tensor into runs of at most `window` elements, each of which one call updates. No run has elements of
/// two experts' matrices ([E, rows, columns]), since each matrix has a packed copy of its own.
void append_pieces(const model::TensorSpec& spec, bool decay, int64_t window, std::vector<ParameterRun>& out) {
  const bool experts = spec.shape.size() == 3 && spec.shape[1] > 1;  // [C, 1, taps]: a convolution
  const int64_t each = experts ? spec.numel() / spec.shape[0] : spec.numel();
  for (int64_t first = 0; first < spec.numel(); first += each) {
    for (int64_t begin = 0; begin < each; begin += window) {
      out.push_back({spec.offset + first + begin, std::min(window, each - begin), decay});
    }
  }
}

/// Plans runs for AdamW and matrices for Muon, largest first. joined: neighbouring tensors become one run.
/// They cannot be joined if each tensor has its own packed copy; large tensors are then split, even if
/// moments do not stream, so that the norm of the change is summed in the same order either way.
void plan(const std::vector<model::TensorSpec>& specs, const OptimizerConfig& config, bool joined,
          std::vector<ParameterRun>& adamw, std::vector<ParameterRun>& muon) {
  const bool has_muon = config.kind == OptimizerConfig::Kind::kMuon;
  for (const model::TensorSpec& spec : specs) {
    const bool decay = (config.decay_all && !model::is_frozen(spec)) || model::is_decayed(spec);
    if (has_muon && spec.matrix) {
      muon.push_back({spec.offset, spec.numel(), decay, spec.shape[0]});
      continue;
    }
    ParameterRun* last = adamw.empty() ? nullptr : &adamw.back();
    const bool joins = joined && last && last->decay == decay && !has_muon;
    // includes the alignment gap, whose elements stay 0
    if (joins) last->count = spec.offset + spec.numel() - last->offset;
    else if (joined) adamw.push_back({spec.offset, spec.numel(), decay});
    else append_pieces(spec, decay, config.window, adamw);
  }
  std::stable_sort(muon.begin(), muon.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
}

/// Groups neighbouring runs into windows of at most `window` elements.
std::vector<ParameterWindow> divide(const std::vector<ParameterRun>& runs, int64_t window) {
  std::vector<ParameterWindow> out;
  for (size_t i = 0; i < runs.size(); ++i) {
    const int64_t end = runs[i].offset + runs[i].count;
    if (out.empty() || end - out.back().offset > window) out.push_back({i, i, runs[i].offset, 0});
    out.back().last = i + 1;
    out.back().count = end - out.back().offset;
  }
  return out;
}

/// The moments in host memory of each window. element: bytes of one moment.
std::vector<StreamedMoments::Window> travelling(const std::vector<ParameterWindow>& windows, int64_t element, std::byte* m,
                                                std::byte* v) {
  std::vector<StreamedMoments::Window> out;
  for (const ParameterWindow& window : windows) {
    out.push_back({m + window.offset * element, v + window.offset * element, window.count * element});
  }
  return out;
}

/// Device memory for streaming moments.
int64_t visiting_bytes(const std::vector<ParameterRun>& adamw, const OptimizerConfig& config) {
  int64_t widest = 0;
  for (const ParameterWindow& window : divide(adamw, config.window)) widest = std::max(widest, window.count);
  return StreamedMoments::device_bytes(widest * dtype_bytes(config.moments));
}

/// Largest number of elements of a matrix that one thread updates alone.
int64_t small_matrix(const Stream& stream) { return stream.is_cuda() ? 0 : kSmallMatrix; }

/// Number of scratch slots: twice as many as threads, so that all threads end at about the same time.
size_t slot_count(bool has_muon, int threads) { return has_muon && threads > 1 ? 2 * size_t(threads) : 1; }

/// Scratch bytes of a slot. Only the first slot runs AdamW, the norms of n parameters, and large matrices.
int64_t slot_bytes(const Stream& stream, const std::vector<ParameterRun>& muon, int64_t n, int64_t small, bool first) {
  int64_t bytes = first ? std::max(kernels::adamw_scratch_bytes(stream, n), kernels::sum_of_squares_scratch_bytes(stream, n)) : 0;
  for (const ParameterRun& run : muon) {
    if (!first && run.count > small) continue;
    bytes = std::max(bytes, kernels::muon_scratch_bytes(stream, run.muon_rows, run.count / run.muon_rows));
  }
  return Arena::rounded(bytes);
}

/// The packed copy of a run, or an empty view. packs: keyed by the address of their parameters; param:
/// address of the first parameter.
TensorView packed_copy(const std::map<const float*, TensorView>& packs, const float* param, const ParameterRun& run) {
  auto part = packs.upper_bound(param + run.offset);  // a packed part may contain several tensors: q, k and v
  if (part == packs.begin()) return {};
  --part;
  const TensorView& all = part->second;
  const int64_t skipped = param + run.offset - part->first;
  return {all.as<std::byte>() + skipped * dtype_bytes(all.dtype), all.dtype, {run.count}};
}

int64_t sums_bytes(size_t runs) { return int64_t(runs + 2) * 64; }

model::TensorBlock moment_block(const model::ModelConfig& model, const std::vector<model::TensorSpec>& specs,
                                const OptimizerConfig& config, const Stream& stream) {
  if (!moments_visit(stream, config)) return {model, specs, stream, config.moments};
  return {model, specs, Stream{}, config.moments, Memory::kPinned};
}

}  // namespace

bool moments_visit(const Stream& stream, const OptimizerConfig& config) {
  return stream.is_cuda() && config.moments_on_host;
}

int64_t moment_bytes(const std::vector<model::TensorSpec>& specs, const OptimizerConfig& config) {
  return 2 * Arena::rounded(model::total_elements(specs) * dtype_bytes(config.moments));
}

int64_t optimizer_bytes(const Stream& stream, const std::vector<model::TensorSpec>& specs, const OptimizerConfig& config,
                        int threads) {
  std::vector<ParameterRun> adamw, muon;
  plan(specs, config, !stream.is_cuda(), adamw, muon);
  const int64_t n = model::total_elements(specs), small = small_matrix(stream);
  const auto others = int64_t(slot_count(!muon.empty(), threads)) - 1;
  const int64_t visiting = moments_visit(stream, config) ? visiting_bytes(adamw, config) : 0;
  return sums_bytes(adamw.size() + muon.size()) + slot_bytes(stream, muon, n, small, true) +
         others * slot_bytes(stream, muon, n, small, false) + visiting;
}

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
  if (c.window < 16 || c.window % 16 != 0) {
    fail(Code::kConfig, "optimizer: window is %lld; it must be a multiple of 16.", (long long)c.window);
  }
  if (c.moments_on_host && c.kind != OptimizerConfig::Kind::kAdamW) {
    fail(Code::kConfig, "optimizer: moments in host memory are AdamW's; Muon updates a whole matrix at once.");
  }
  if (c.moments == DType::kF32) return;
  if (c.moments != DType::kBF16) {
    fail(Code::kConfig, "optimizer: moments are %s; they must be f32 or bf16.", dtype_name(c.moments));
  }
  if (c.kind != OptimizerConfig::Kind::kAdamW) {
    fail(Code::kConfig, "optimizer: moments in bf16 are AdamW's; Muon keeps its momentum in f32.");
  }
}

Optimizer::Optimizer(const model::ModelConfig& model, const std::vector<model::TensorSpec>& specs,
                     const OptimizerConfig& config, const Stream& stream)
    : config_((check_optimizer(config), config)),
      m_(moment_block(model, specs, config_, stream)),
      v_(moment_block(model, specs, config_, stream)),
      small_matrix_(small_matrix(stream)) {
  plan(m_.specs(), config_, !stream.is_cuda(), adamw_, muon_);
  sums_ = SharedArrays(stream, sums_bytes(adamw_.size() + muon_.size()), "optimizer sums");
  if (!moments_visit(stream, config_)) return;
  windows_ = divide(adamw_, config_.window);
  streamed_ = std::make_unique<StreamedMoments>(stream);
}

void Optimizer::reserve(const Stream& stream, size_t slots) {
  while (scratch_.size() < slots) {
    const int64_t bytes = slot_bytes(stream, muon_, m_.flat().dim(0), small_matrix_, scratch_.empty());
    scratch_.emplace_back(bytes, "optimizer", tensor_memory(stream));
  }
}

void Optimizer::adamw(const Stream& stream, const Update& update, const Run& run, std::byte* m, std::byte* v, double* change) {
  const auto part = [&](float* base) { return f32(base + run.offset, {run.count}); };
  kernels::adamw(stream, {.param = part(update.param),
                          .m = {m, config_.moments, {run.count}}, .v = {v, config_.moments, {run.count}},
                          .grad = part(update.grad),
                          .lr = update.rates.lr,
                          .beta1 = config_.beta1,
                          .beta2 = config_.beta2,
                          .eps = config_.eps,
                          .weight_decay = run.decay ? config_.weight_decay : 0.0f,
                          .step = steps, .scale = update.scale,
                          .squared_change = {change, DType::kF64, {1}},
                          .scratch = &scratch_[0], .seed = config_.seed, .first = run.offset,
                          .packed = packed_copy(update.packs, update.param, run)});
}

void Optimizer::adamw_runs(const Stream& stream, const Update& update, double* changes) {
  const int64_t element = dtype_bytes(config_.moments);
  const auto update_window = [&](const ParameterWindow& window, std::byte* m, std::byte* v) {
    for (size_t i = window.first; i < window.last; ++i) {
      const int64_t skipped = (adamw_[i].offset - window.offset) * element;
      adamw(stream, update, adamw_[i], m + skipped, v + skipped, changes + i);
    }
  };
  std::byte *const m = m_.flat().as<std::byte>(), *const v = v_.flat().as<std::byte>();
  if (!streamed_) return update_window({0, adamw_.size(), 0, 0}, m, v);
  const auto visit = [&](size_t i, std::byte* at_m, std::byte* at_v) { update_window(windows_[i], at_m, at_v); };
  streamed_->visit(stream, travelling(windows_, element, m, v), visit);
}

void Optimizer::muon(const Stream& stream, const Update& update, const Run& run, double* change, Arena& scratch) {
  const auto part = [&](float* base) { return f32(base + run.offset, {run.muon_rows, run.count / run.muon_rows}); };
  kernels::muon(stream, {.param = part(update.param),
                         .momentum_buffer = part(m_.flat().as<float>()), .grad = part(update.grad),
                         .lr = update.rates.muon_lr,
                         .momentum = config_.muon_momentum,
                         .weight_decay = run.decay ? config_.weight_decay : 0.0f,
                         .scale = update.scale,
                         .squared_change = {change, DType::kF64, {1}},
                         .scratch = &scratch,
                         .packed = packed_copy(update.packs, update.param, run)});
}

void Optimizer::muon_runs(const Stream& stream, const Update& update, double* changes) {
  size_t small = 0;
  for (; small < muon_.size() && muon_[small].count > small_matrix_; ++small) {
    muon(stream, update, muon_[small], changes + small, scratch_[0]);
  }
  // Each slot takes every n-th of the remaining matrices, so that all end at about the same time.
  const size_t slots = scratch_.size();
  stream.parallel_for(int64_t(slots), 1, [&](int64_t begin, int64_t end) {
    for (size_t slot = size_t(begin); slot < size_t(end); ++slot) {
      for (size_t i = small + slot; i < muon_.size(); i += slots) {
        muon(Stream{}, update, muon_[i], changes + i, scratch_[slot]);
      }
    }
  });
}

Optimizer::Applied Optimizer::apply(const Stream& stream, model::TensorBlock& parameters, const model::TensorBlock& grads,
                                    const TensorView& squares, const Rates& rates,
                                    const std::vector<model::WeightSnapshot::Part>& packs) {
  reserve(stream, slot_count(!muon_.empty(), stream.threads()));
  sums_.clear();
  const auto scale = sums_.take<float>(1);
  const auto weight = sums_.take<double>(1), changes = sums_.take<double>(int64_t(adamw_.size() + muon_.size()));
  kernels::gradient_scale(stream, {.totals = squares, .scale = scale.view(), .clip = rates.clip});
  Update update{parameters.flat().as<float>(), grads.flat().as<float>(), rates, scale.view(), {}};
  for (const auto& part : packs) update.packs.emplace(part.from.as<float>(), part.flat());
  ++steps;
  adamw_runs(stream, update, changes.device);
  muon_runs(stream, update, changes.device + adamw_.size());
  kernels::sum_of_squares(stream, {.x = parameters.flat(), .total = weight.view(), .scratch = &scratch_[0]});
  sums_.download(stream, 0, sums_.used());
  const double change = std::accumulate(changes.host, changes.host + changes.size, 0.0);
  if (!std::isnan(*scale.host)) return {*scale.host, std::sqrt(change), std::sqrt(*weight.host)};
  --steps;
  return {*scale.host, 0.0, std::sqrt(*weight.host)};
}

}  // namespace hone::trainer
