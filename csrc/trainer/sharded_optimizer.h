// AdamW sharded over ranks: each rank has the moments of its shard and updates the weights of its shard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/arena.h"
#include "core/device.h"
#include "core/stream.h"
#include "model/tensor_block.h"
#include "trainer/config.h"
#include "trainer/shard_exchange.h"
#include "trainer/step.h"
#include "trainer/streamed_moments.h"

namespace hone::trainer {

/// Throws kUnsupported naming what ranks cannot shard.
void check_sharding(const TrainerConfig& config);

/// A range of one tensor that lies in a rank's shard.
struct ShardPiece {
  size_t tensor = 0;              // index of the tensor in the specs
  int64_t first = 0, count = 0;   // elements of the tensor
  int64_t local = 0;              // index in the shard of the range's first element
};
std::vector<ShardPiece> shard_pieces(const std::vector<model::TensorSpec>& specs, const ShardLayout& layout, int rank);

/// Bytes of a rank's ShardedOptimizer in the stream's memory, without gradients and without moments that stay
/// there. weights: the memory that holds the weights.
int64_t sharded_optimizer_bytes(const Stream& stream, const ShardLayout& layout, int rank, const OptimizerConfig& config, Memory weights);

/// Moments of one rank's shard, [n] each: in the stream's memory or, with OptimizerConfig::moments_on_host,
/// in host memory, from which windows of them are copied to a GPU and back.
class ShardMoments {
 public:
  /// Both moments are zero; on the CPU their pages take no physical memory before they are written. Throws
  /// kOutOfMemory.
  ShardMoments(const Stream& stream, const model::ModelConfig& model, const OptimizerConfig& config, int64_t elements);
  /// m() and v() are blocks of one tensor each. They wait for moments that are being copied back from the
  /// device.
  model::TensorBlock& m() { return settle(), m_; }
  model::TensorBlock& v() { return settle(), v_; }
  /// Window of `count` elements of the shard from index `local` on.
  StreamedMoments::Window from(int64_t local, int64_t count) const;
  /// Copies windows to the device and back; null if moments are not streamed.
  StreamedMoments* visiting() { return streamed_.get(); }

 private:
  void settle() const { if (streamed_) streamed_->settle(); }
  model::TensorBlock m_, v_;
  std::unique_ptr<StreamedMoments> streamed_;
};

struct ShardStretch;
struct ShardLane;

/// Owns gradients and moments of one rank's shard, in the stream's memory (moments as ShardMoments says). If
/// a GPU's weights are in host memory, the shard is copied to the GPU and back. Sums over elements are f64
/// sums of blocks of kShardBlock elements, added in order, so that bits are the same for any number of ranks
/// and threads.
class ShardedOptimizer {
 public:
  /// All arguments must outlive this object. Moments take no memory before they are first written.
  ShardedOptimizer(const Stream& stream, model::TensorBlock& parameters, const ShardLayout& layout, ShardExchange& exchange, int rank);
  /// Drops moments and step counter. Throws the errors of check_optimizer.
  void reset(const OptimizerConfig& config);

  const OptimizerConfig& config() const { return config_; }
  /// Gradients and moments of this rank's shard, in the order of its pieces, writable: gradients are [n] f32;
  /// m() and v() are blocks of one tensor [n], f32 or bf16, and wait for moments that are being copied back
  /// from the device.
  float* gradients();
  model::TensorBlock& m() { return make(), moments_->m(); }
  model::TensorBlock& v() { return make(), moments_->v(); }
  int64_t steps = 0;  // updates applied, for bias correction
  bool gathers_layers = true;  // false: an update does not gather the layers that other ranks own
  void clear_gradients();

  /// Each rank updates the weights of its shard with the clipped gradients; then all ranks gather the
  /// weights. Nothing changes if report.skipped is set, or if the norm of all gradients is not finite, which
  /// sets it. Writes the same scale and norms to `report` on every rank. A collective.
  void apply(const StepOptions& options, StepReport& report);

 private:
  struct Rates;
  void update_all(const Rates& rates);
  void update(const Rates& rates, const ShardLane& lane, const ShardStretch& s, std::byte* m, std::byte* v) const;
  bool weights_visit() const { return stream_.is_cuda() && parameters_.memory() == Memory::kHost; }
  float* weights_at(const ShardLane& lane, const ShardStretch& s) const;
  template <class Run>
  void for_shard(const Run& run) const;
  void square(const Stream& stream, const ShardStretch& s, const float* x, const float* from = nullptr) const;
  std::vector<double> gathered();
  void make();

  Stream stream_;
  model::TensorBlock& parameters_;
  const ShardLayout& layout_;
  ShardExchange& exchange_;
  int rank_;
  OptimizerConfig config_;
  Arena gradients_memory_, scratch_;
  float* gradients_ = nullptr;
  // on a GPU: weights before the update; copies of weights that are in host memory
  float *old_ = nullptr, *visiting_ = nullptr;
  std::optional<ShardMoments> moments_;
  SharedArrays sums_;
  SharedArrays::Array<double> squares_;  // one sum of squares per block of this rank
};

}  // namespace hone::trainer
