#include "trainer/checkpoint_shards.h"

#include <algorithm>
#include <utility>
#include <vector>


namespace hone::trainer {
namespace {

TensorView piece_of(const model::TensorBlock& moments, const ShardPiece& piece) {
  return {moments.flat().as<std::byte>() + piece.local * dtype_bytes(moments.dtype()), moments.dtype(), {piece.count}};
}

/// Both moments of this rank's elements; each range of a tensor has its own name.
std::vector<StoredTensor> moments_of(const model::TensorBlock& trained, ShardedStep& step) {
  std::vector<StoredTensor> out;
  ShardedOptimizer& optimizer = step.optimizer();
  for (const auto& [prefix, moments] : {std::pair{"m.", &optimizer.m()}, {"v.", &optimizer.v()}}) {
    for (const ShardPiece& piece : shard_pieces(trained.specs(), step.layout(), step.ranks().rank())) {
      const model::TensorSpec& spec = trained.specs()[piece.tensor];
      const bool whole = piece.count == spec.numel();
      out.push_back({piece_name(prefix + spec.name, piece.first, piece.count, spec.numel()), moments, piece_of(*moments, piece),
                     whole ? spec.shape : std::vector<int64_t>{piece.count}});
    }
  }
  return out;
}

}  // namespace

CheckpointDraft share_draft(const CheckpointState& state, const model::TensorBlock& trained, ShardedStep& step, int64_t shard_bytes) {
  const int rank = step.ranks().rank(), size = step.ranks().size();
  const int64_t share = (trained.flat().numel() * dtype_bytes(trained.dtype()) + size - 1) / size;
  CheckpointDraft draft;
  draft.model = trained.config();
  draft.state = state;
  draft.moment_type = step.optimizer().config().moments;
  draft.format = kPieceFormat;
  draft.rank = rank, draft.ranks = size;
  draft.weight_bytes = std::min(share, shard_bytes), draft.moment_bytes = shard_bytes;
  draft.moment_stem = "optimizer.rank-" + std::to_string(rank) + "-of-" + std::to_string(size);
  append_tensors(trained, trained_prefix(state.adapters), draft.weights);
  draft.moments = moments_of(trained, step);
  return draft;
}

CheckpointState read_sharded_checkpoint(const std::string& directory, model::TensorBlock& trained, ShardedStep& step,
                                        const model::AdapterConfig& adapters) {
  CheckpointState state;
  ShardedOptimizer& optimizer = step.optimizer();
  agree(step.ranks(), "load", kept_failure([&] {
    const CheckpointReader reader(directory, trained, optimizer.config(), adapters);
    reader.fill(trained);
    for (const auto& [prefix, moments] : {std::pair{"m.", &optimizer.m()}, {"v.", &optimizer.v()}}) {
      for (const ShardPiece& piece : shard_pieces(trained.specs(), step.layout(), step.ranks().rank())) {
        moments->write(piece_of(*moments, piece), [&, name = prefix + trained.specs()[piece.tensor].name](const TensorView& host) {
          reader.tensors().read(name, piece.first, piece.count, host.data);
        });
      }
    }
    optimizer.steps = reader.state().optimizer_steps;
    state = reader.state();
  }));
  return state;
}

}  // namespace hone::trainer
