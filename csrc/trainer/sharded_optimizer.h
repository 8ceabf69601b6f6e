// AdamW where each rank has the moments of its shard and updates the weights of its shard.
#pragma once

#include <cstdint>
#include <vector>

#include "core/arena.h"
#include "core/stream.h"
#include "model/tensor_block.h"
#include "trainer/config.h"
#include "trainer/shard_exchange.h"
#include "trainer/step.h"

namespace hone::trainer {

/// Throws kUnsupported naming what cannot be divided among ranks.
void check_sharding(const TrainerConfig& config);

/// A stretch of one tensor in a rank's shard.
struct ShardPiece {
  size_t tensor = 0;              // its place in the specs
  int64_t first = 0, count = 0;   // elements of the tensor
  int64_t local = 0;              // where they begin in the shard
};
std::vector<ShardPiece> shard_pieces(const std::vector<model::TensorSpec>& specs, const ShardLayout& layout, int rank);

/// Gradients and moments of one rank's shard. All sums over elements are those of blocks of kShardBlock, in f64, added
/// up in their order: the same bits for any number of ranks and threads.
class ShardedOptimizer {
 public:
  /// All must outlive this, but config. Moments take no memory before they are first written.
  ShardedOptimizer(const Stream& stream, model::TensorBlock& parameters, const ShardLayout& layout, ShardExchange& exchange, int rank);
  /// Drops moments and step counter. Throws what check_optimizer throws.
  void reset(const OptimizerConfig& config);

  const OptimizerConfig& config() const { return config_; }
  /// This rank's, in the order of its pieces, to be read and written: [n] f32, and f32 or bf16.
  float* gradients();
  const TensorView& m();
  const TensorView& v();
  int64_t steps = 0;  // updates applied, for bias correction
  bool gathers_layers = true;  // false: an update leaves others' shards of layers as they are
  void clear_gradients();

  /// Updates the weights of all ranks, each its own shard, by the clipped gradients, and gathers them. If report.skipped is set, or if the
  /// norm of all gradients is not finite, which sets it, nothing changes. Writes scale and norms to `report`, the same
  /// on every rank. A collective.
  void apply(const StepOptions& options, StepReport& report);

 private:
  struct Rates;
  void update_block(const Rates& rates, int64_t offset, int64_t count, int64_t local) const;
  template <class Run>
  void for_blocks(const Run& run) const;
  void report_norms(const std::vector<double>& squares, StepReport& report) const;
  void make();

  Stream stream_;
  model::TensorBlock& parameters_;
  const ShardLayout& layout_;
  ShardExchange& exchange_;
  int rank_;
  OptimizerConfig config_;
  Arena gradients_memory_, moments_memory_;
  float* gradients_ = nullptr;
  TensorView m_, v_;
};

}  // namespace hone::trainer
