#include "trainer/sharded_optimizer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/optimizer.h"
#include "kernels/parts.h"
#include "trainer/optimizer.h"

namespace hone::trainer {
namespace {

constexpr int64_t kBlockGrain = 4;  // smallest number of blocks that a thread takes
static_assert(kShardBlock == kernels::kSquaresBlock);

double sum(const std::vector<double>& blocks) { return std::accumulate(blocks.begin(), blocks.end(), 0.0); }

int64_t block_sums_bytes(int64_t blocks) { return Arena::rounded(blocks * int64_t(sizeof(double))); }

/// Index of the tensor that contains element `offset` of the block or, if the element is in a gap, of the
/// next tensor.
size_t tensor_at(const std::vector<model::TensorSpec>& specs, int64_t offset) {
  const auto ends_after = [](int64_t at, const model::TensorSpec& spec) { return at < spec.offset + spec.numel(); };
  return size_t(std::upper_bound(specs.begin(), specs.end(), offset, ends_after) - specs.begin());
}

/// Calls run(tensor, begin, end) for every range of a tensor within elements [offset, offset + count) of the
/// block; skips gaps between tensors.
template <class Run>
void for_tensors(const std::vector<model::TensorSpec>& specs, int64_t offset, int64_t count, const Run& run) {
  for (size_t t = tensor_at(specs, offset); count > 0 && t < specs.size() && specs[t].offset < offset + count; ++t) {
    run(t, std::max(specs[t].offset, offset), std::min(specs[t].offset + specs[t].numel(), offset + count));
  }
}

}  // namespace

void check_sharding(const TrainerConfig& config) {
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

/// Consecutive elements of this rank's shard, in whole blocks.
struct ShardStretch {
  int64_t block = 0;                        // index of its first block among this rank's blocks
  // range within all trained elements; index of its first element in the shard
  int64_t offset = 0, count = 0, local = 0;
};

/// Resources for updating one range, including a copy of its old weights.
struct ShardLane {
  Stream stream;
  float* old;
};

namespace {

model::TensorBlock moments_of_shard(const Stream& stream, const model::ModelConfig& model, const OptimizerConfig& config, int64_t elements) {
  const std::vector<model::TensorSpec> specs{{.name = "moments of a shard", .shape = {elements}}};
  if (moments_visit(stream, config)) return {model, specs, Stream{}, config.moments, Memory::kPinned};
  return {model, specs, stream, config.moments};
}

/// The parts of all buckets that a rank owns.
std::vector<ShardStretch> parts_of(const ShardLayout& layout, int rank) {
  std::vector<ShardStretch> out;
  int64_t first = 0;
  for (size_t b = 0; b < layout.buckets().size(); ++b) {
    const ShardPart& part = layout.part(b, rank);
    if (part.count > 0) out.push_back({first, part.offset, part.count, part.local});
    first += part.blocks;
  }
  return out;
}

/// Calls run(lane, stretch) for a part: on the CPU block by block, which keeps data in the cache, on a GPU
/// for the whole part.
template <class Run>
void for_stretches(const ShardLane& whole, const ShardStretch& part, const Run& run) {
  if (whole.stream.is_cuda()) return run(whole, part);
  const int64_t blocks = (part.count + kShardBlock - 1) / kShardBlock;
  whole.stream.parallel_for(blocks, kBlockGrain, [&](int64_t begin, int64_t end) {
    float old[kShardBlock];
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = i * kShardBlock;
      run(ShardLane{{}, old}, {part.block + i, part.offset + at, std::min(kShardBlock, part.count - at), part.local + at});
    }
  });
}

void report_norms(const ShardLayout& layout, int64_t layer_count, const std::vector<double>& blocks, StepReport& report) {
  std::vector<double> layers(size_t(layer_count + 1));
  for (const ShardBucket& bucket : layout.buckets()) {
    for (int64_t i = 0; i < bucket.blocks(); ++i) layers[size_t(bucket.layer)] += blocks[size_t(bucket.first_block + i)];
  }
  report.grad_norm = std::sqrt(sum(layers));
  for (double& norm : layers) norm = std::sqrt(norm);
  report.layer_grad_norms = std::move(layers);
}

}  // namespace

/// Inputs that an update has for all blocks.
struct ShardedOptimizer::Rates {
  float lr = 0;
  float scale = 1;  // factor that clips gradients
};

int64_t sharded_optimizer_bytes(const Stream& stream, const ShardLayout& layout, int rank, const OptimizerConfig& config, Memory weights) {
  const int64_t sums = block_sums_bytes(layout.blocks(rank));
  if (!stream.is_cuda()) return sums;
  int64_t longest = 0;
  for (size_t b = 0; b < layout.buckets().size(); ++b) longest = std::max(longest, layout.part(b, rank).count);
  const bool visit = moments_visit(stream, config);
  return sums + (weights == Memory::kHost ? 2 : 1) * Arena::rounded(float_bytes(layout.widest())) +
         (visit ? StreamedMoments::device_bytes(longest * dtype_bytes(config.moments)) : 0);
}

ShardMoments::ShardMoments(const Stream& stream, const model::ModelConfig& model, const OptimizerConfig& config, int64_t elements)
    : m_(moments_of_shard(stream, model, config, elements)), v_(moments_of_shard(stream, model, config, elements)) {
  if (moments_visit(stream, config)) streamed_ = std::make_unique<StreamedMoments>(stream);
}

StreamedMoments::Window ShardMoments::from(int64_t local, int64_t count) const {
  const int64_t element = dtype_bytes(m_.dtype());
  const auto at = [&](const model::TensorBlock& moments) { return moments.flat().as<std::byte>() + local * element; };
  return {at(m_), at(v_), count * element};
}

ShardedOptimizer::ShardedOptimizer(const Stream& stream, model::TensorBlock& parameters, const ShardLayout& layout,
                                   ShardExchange& exchange, int rank)
    : stream_(stream), parameters_(parameters), layout_(layout), exchange_(exchange), rank_(rank) {}

void ShardedOptimizer::reset(const OptimizerConfig& config) {
  check_optimizer(config);
  config_ = config;
  steps = 0;
  moments_.reset();
}

/// Allocates gradients and moments at the first update, since a trainer that only scores or publishes needs
/// none.
void ShardedOptimizer::make() {
  const bool has_moments = config_.kind == OptimizerConfig::Kind::kAdamW;
  if (!moments_ && has_moments) moments_.emplace(stream_, parameters_.config(), config_, layout_.elements(rank_));
  if (gradients_memory_.capacity() > 0) return;
  const int64_t n = layout_.elements(rank_), blocks = layout_.blocks(rank_);
  gradients_memory_ = Arena(Arena::rounded(float_bytes(std::max<int64_t>(n, 1))), "gradients of a shard", tensor_memory(stream_));
  gradients_ = gradients_memory_.take_array<float>(n);
  sums_ = SharedArrays(stream_, block_sums_bytes(blocks), "norms of a shard");
  squares_ = sums_.take<double>(blocks);
  if (!stream_.is_cuda()) return;
  const int64_t widest = layout_.widest();
  scratch_ = Arena((weights_visit() ? 2 : 1) * Arena::rounded(float_bytes(widest)), "weights before an update", Memory::kDevice);
  old_ = scratch_.take_array<float>(widest);
  if (weights_visit()) visiting_ = scratch_.take_array<float>(widest);
}

float* ShardedOptimizer::gradients() { return make(), gradients_; }

void ShardedOptimizer::clear_gradients() { zero(stream_, gradients(), float_bytes(layout_.elements(rank_))); }

/// Calls run(lane, stretch) for every stretch of the shard.
template <class Run>
void ShardedOptimizer::for_shard(const Run& run) const {
  for (const ShardStretch& part : parts_of(layout_, rank_)) for_stretches({stream_, old_}, part, run);
}

/// Address of the stretch's weights in the memory where they are updated.
float* ShardedOptimizer::weights_at(const ShardLane& lane, const ShardStretch& s) const {
  float* const weights = parameters_.flat().as<float>() + s.offset;
  if (!weights_visit()) return weights;
  upload(lane.stream, visiting_, weights, float_bytes(s.count));
  return visiting_;
}

/// Writes the sum of squares of x, or of x - from, to squares_ for each of the stretch's blocks.
void ShardedOptimizer::square(const Stream& stream, const ShardStretch& s, const float* x, const float* from) const {
  const int64_t blocks = (s.count + kShardBlock - 1) / kShardBlock;
  kernels::block_squares(stream, {.x = f32(x, {s.count}),
                                  .from = from ? f32(from, {s.count}) : TensorView{},
                                  .squares = {squares_.device + s.block, DType::kF64, {blocks}}});
}

std::vector<double> ShardedOptimizer::gathered() {
  sums_.download(stream_, 0, sums_.used());
  return exchange_.gather_blocks({squares_.host, squares_.host + squares_.size});
}

/// Updates one stretch. m, v: its moments in the memory where they are updated.
void ShardedOptimizer::update(const Rates& rates, const ShardLane& lane, const ShardStretch& s, std::byte* m, std::byte* v) const {
  const auto& specs = parameters_.specs();
  const int64_t element = dtype_bytes(config_.moments);
  float* const weights = weights_at(lane, s);
  copy(lane.stream, lane.old, weights, float_bytes(s.count));
  for_tensors(specs, s.offset, s.count, [&](size_t t, int64_t begin, int64_t end) {
    const int64_t n = end - begin, at = begin - s.offset;
    const bool decays = (config_.decay_all && !model::is_frozen(specs[t])) || model::is_decayed(specs[t]);
    kernels::adamw(lane.stream, {.param = f32(weights + at, {n}),
                                 .m = {m + at * element, config_.moments, {n}},
                                 .v = {v + at * element, config_.moments, {n}},
                                 .grad = f32(gradients_ + s.local + at, {n}),
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
  square(lane.stream, s, weights, lane.old);
  if (weights_visit()) download(lane.stream, parameters_.flat().as<float>() + s.offset, weights, float_bytes(s.count));
}

void ShardedOptimizer::update_all(const Rates& rates) {
  StreamedMoments* const visiting = moments_->visiting();
  if (!visiting) {
    return for_shard([&](const ShardLane& lane, const ShardStretch& s) {
      const StreamedMoments::Window at = moments_->from(s.local, s.count);
      update(rates, lane, s, at.m, at.v);
    });
  }
  const std::vector<ShardStretch> all = parts_of(layout_, rank_);
  std::vector<StreamedMoments::Window> windows;
  for (const ShardStretch& s : all) windows.push_back(moments_->from(s.local, s.count));
  visiting->visit(stream_, windows, [&](size_t i, std::byte* m, std::byte* v) { update(rates, {stream_, old_}, all[i], m, v); });
}

void ShardedOptimizer::apply(const StepOptions& o, StepReport& report) {
  make();
  for_shard([&](const ShardLane& lane, const ShardStretch& s) { square(lane.stream, s, gradients_ + s.local); });
  report_norms(layout_, parameters_.config().layers, gathered(), report);
  report.skipped = report.skipped || !std::isfinite(report.grad_norm);
  if (!report.skipped) {
    const double clip = double(config_.gradient_clip);
    if (clip > 0.0) report.grad_scale = std::min(1.0, clip / (report.grad_norm + 1e-6));
    ++steps;
    update_all({o.lr, float(report.grad_scale)});
    report.update_norm = std::sqrt(sum(gathered()));
    exchange_.gather(parameters_.flat().as<float>(), gathers_layers ? 0 : parameters_.config().layers);
  }
  for_shard([&](const ShardLane& lane, const ShardStretch& s) { square(lane.stream, s, weights_at(lane, s)); });
  report.weight_norm = std::sqrt(sum(gathered()));
}

}  // namespace hone::trainer
