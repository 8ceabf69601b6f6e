#include "trainer/sharded_optimizer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "kernels/optimizer.h"
#include "trainer/optimizer.h"

namespace hone::trainer {
namespace {

constexpr int64_t kBlockGrain = 4;  // blocks that one thread takes at least

double sum(const std::vector<double>& blocks) { return std::accumulate(blocks.begin(), blocks.end(), 0.0); }

double squares(const float* x, int64_t n) { return kernels::sum_of_squares(Stream{}, f32(x, {n})); }

/// The tensor that has element `offset` of the whole, or the next one.
size_t tensor_at(const std::vector<model::TensorSpec>& specs, int64_t offset) {
  const auto ends_after = [](int64_t at, const model::TensorSpec& spec) { return at < spec.offset + spec.numel(); };
  return size_t(std::upper_bound(specs.begin(), specs.end(), offset, ends_after) - specs.begin());
}

/// Calls run(tensor, begin, end) for every stretch of a tensor in elements [offset, offset + count) of the whole; the gaps
/// between tensors are in none.
template <class Run>
void for_tensors(const std::vector<model::TensorSpec>& specs, int64_t offset, int64_t count, const Run& run) {
  for (size_t t = tensor_at(specs, offset); count > 0 && t < specs.size() && specs[t].offset < offset + count; ++t) {
    run(t, std::max(specs[t].offset, offset), std::min(specs[t].offset + specs[t].numel(), offset + count));
  }
}

}  // namespace

void check_sharding(const TrainerConfig& config) {
  if (config.device == Stream::Backend::kCuda) {
    fail(Code::kUnsupported, "trainer: a sharded trainer computes on the CPU alone; choose device \"cpu\", or no sharding.");
  }
  if (config.sharding.stage >= Sharding::Stage::kGradients && config.adapters.on()) {
    fail(Code::kUnsupported, "trainer: adapters have few gradients, and read all weights, which no stage but \"optimizer\" keeps; choose stage \"optimizer\".");
  }
  if (config.sharding.stage >= Sharding::Stage::kGradients && config.optimizer.kind != OptimizerConfig::Kind::kAdamW) {
    fail(Code::kUnsupported, "trainer: Muon updates whole matrices, of which this stage has shards; choose adamw, or stage \"optimizer\".");
  }
}

std::vector<ShardPiece> shard_pieces(const std::vector<model::TensorSpec>& specs, const ShardLayout& layout, int rank) {
  std::vector<ShardPiece> pieces;
  for (size_t b = 0; b < layout.buckets().size(); ++b) {
    const ShardPart& part = layout.part(b, rank);
    for_tensors(specs, part.offset, part.count, [&](size_t t, int64_t begin, int64_t end) {
      const ShardPiece piece{t, begin - specs[t].offset, end - begin, part.local + (begin - part.offset)};
      ShardPiece* const last = pieces.empty() ? nullptr : &pieces.back();
      const bool goes_on = last && last->tensor == t && last->first + last->count == piece.first && last->local + last->count == piece.local;
      if (goes_on) last->count += piece.count;
      else pieces.push_back(piece);
    });
  }
  return pieces;
}

/// What every block of an update needs.
struct ShardedOptimizer::Rates {
  float lr = 0;
  float scale = 1;  // the factor that clips gradients
};

ShardedOptimizer::ShardedOptimizer(const Stream& stream, model::TensorBlock& parameters, const ShardLayout& layout,
                                   ShardExchange& exchange, int rank)
    : stream_(stream), parameters_(parameters), layout_(layout), exchange_(exchange), rank_(rank) {}

void ShardedOptimizer::reset(const OptimizerConfig& config) {
  check_optimizer(config);
  config_ = config;
  steps = 0;
  moments_memory_ = {};
  m_ = v_ = {};
}

/// The first update takes what it needs: a trainer that only scores or publishes needs none.
void ShardedOptimizer::make() {
  const int64_t n = layout_.elements(rank_), bytes = Arena::rounded(n * dtype_bytes(config_.moments));
  if (!m_.rank && config_.kind == OptimizerConfig::Kind::kAdamW) {
    moments_memory_ = Arena(2 * bytes, "moments of a shard");
    m_ = moments_memory_.take_view(config_.moments, {n});
    v_ = moments_memory_.take_view(config_.moments, {n});
    if (bytes > 0 && !moments_memory_.discard()) std::memset(m_.data, 0, size_t(2 * bytes));
  }
  if (gradients_memory_.capacity() > 0) return;
  gradients_memory_ = Arena(Arena::rounded(std::max<int64_t>(n, 1) * int64_t(sizeof(float))), "gradients of a shard");
  gradients_ = gradients_memory_.take_array<float>(n);
}

float* ShardedOptimizer::gradients() { return make(), gradients_; }
const TensorView& ShardedOptimizer::m() { return make(), m_; }
const TensorView& ShardedOptimizer::v() { return make(), v_; }

void ShardedOptimizer::clear_gradients() { std::fill_n(gradients(), layout_.elements(rank_), 0.0f); }

/// Calls run(number among this rank's, offset in the whole, elements, offset in the shard) for every block.
template <class Run>
void ShardedOptimizer::for_blocks(const Run& run) const {
  int64_t first = 0;
  for (size_t b = 0; b < layout_.buckets().size(); ++b) {
    const ShardPart& part = layout_.part(b, rank_);
    stream_.parallel_for(part.blocks, kBlockGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t at = i * kShardBlock;
        run(size_t(first + i), part.offset + at, std::min(kShardBlock, part.count - at), part.local + at);
      }
    });
    first += part.blocks;
  }
}

void ShardedOptimizer::update_block(const Rates& rates, int64_t offset, int64_t count, int64_t local) const {
  const auto& specs = parameters_.specs();
  const int64_t element = dtype_bytes(config_.moments);
  for_tensors(specs, offset, count, [&](size_t t, int64_t begin, int64_t end) {
    const int64_t n = end - begin, at = local + (begin - offset);
    const bool decays = config_.decay_all || specs[t].shape.size() == 2;
    kernels::adamw(Stream{}, {.param = f32(parameters_.flat().as<float>() + begin, {n}),
                              .m = {m_.as<std::byte>() + at * element, config_.moments, {n}},
                              .v = {v_.as<std::byte>() + at * element, config_.moments, {n}},
                              .grad = f32(gradients_ + at, {n}),
                              .lr = rates.lr,
                              .beta1 = config_.beta1,
                              .beta2 = config_.beta2,
                              .eps = config_.eps,
                              .weight_decay = decays ? config_.weight_decay : 0.0f,
                              .grad_scale = rates.scale,
                              .step = steps,
                              .seed = config_.seed,
                              .first = begin});
  });
}

void ShardedOptimizer::report_norms(const std::vector<double>& blocks, StepReport& report) const {
  std::vector<double> layers(size_t(parameters_.config().layers + 1));
  for (const ShardBucket& bucket : layout_.buckets()) {
    for (int64_t i = 0; i < bucket.blocks(); ++i) layers[size_t(bucket.layer)] += blocks[size_t(bucket.first_block + i)];
  }
  report.grad_norm = std::sqrt(sum(layers));
  for (double& norm : layers) norm = std::sqrt(norm);
  report.layer_grad_norms = std::move(layers);
}

void ShardedOptimizer::apply(const StepOptions& o, StepReport& report) {
  make();
  float* const weights = parameters_.flat().as<float>();
  std::vector<double> own(size_t(layout_.blocks(rank_)));
  for_blocks([&](size_t i, int64_t, int64_t n, int64_t local) { own[i] = squares(gradients_ + local, n); });
  report_norms(exchange_.gather_blocks(own), report);
  report.skipped = report.skipped || !std::isfinite(report.grad_norm);
  if (!report.skipped) {
    const double clip = double(config_.gradient_clip);
    if (clip > 0.0) report.grad_scale = std::min(1.0, clip / (report.grad_norm + 1e-6));
    const Rates rates{o.lr, float(report.grad_scale)};
    ++steps;
    for_blocks([&](size_t i, int64_t offset, int64_t n, int64_t local) {
      float change[kShardBlock];
      std::memcpy(change, weights + offset, size_t(n) * sizeof(float));
      update_block(rates, offset, n, local);
      for (int64_t k = 0; k < n; ++k) change[k] = weights[offset + k] - change[k];
      own[i] = squares(change, n);
    });
    report.update_norm = std::sqrt(sum(exchange_.gather_blocks(own)));
    exchange_.gather(weights, gathers_layers ? 0 : parameters_.config().layers);
  }
  for_blocks([&](size_t i, int64_t offset, int64_t n, int64_t) { own[i] = squares(weights + offset, n); });
  report.weight_norm = std::sqrt(sum(exchange_.gather_blocks(own)));
}

}  // namespace hone::trainer
