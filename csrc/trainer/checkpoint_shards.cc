#include "trainer/checkpoint_shards.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "dist/gather_bytes.h"
#include "model/durable_file.h"
#include "model/shards.h"

namespace hone::trainer {
namespace {

/// One line a file: names have no spaces.
std::string listed(const std::vector<CheckpointFile>& files) {
  std::ostringstream out;
  for (const CheckpointFile& file : files) out << file.name << ' ' << file.bytes << ' ' << file.sha256 << '\n';
  return out.str();
}

std::vector<CheckpointFile> files_of_all(dist::Communicator& ranks, const std::vector<CheckpointFile>& own) {
  std::vector<CheckpointFile> all;
  for (const std::string& text : dist::gather_bytes(ranks, listed(own))) {
    std::istringstream in(text);
    for (CheckpointFile file; in >> file.name >> file.bytes >> file.sha256;) all.push_back(file);
  }
  return all;
}

/// Both moments of what this rank owns, each stretch under a name of its own.
std::vector<StoredTensor> moments_of(const model::TensorBlock& trained, ShardedStep& step) {
  std::vector<StoredTensor> out;
  ShardedOptimizer& optimizer = step.optimizer();
  for (const auto& [prefix, moment] : {std::pair{"m.", optimizer.m()}, {"v.", optimizer.v()}}) {
    for (const ShardPiece& piece : shard_pieces(trained.specs(), step.layout(), step.ranks().rank())) {
      const model::TensorSpec& spec = trained.specs()[piece.tensor];
      const bool whole = piece.count == spec.numel();
      const TensorView view{moment.as<std::byte>() + piece.local * dtype_bytes(moment.dtype), moment.dtype, {piece.count}};
      out.push_back({piece_name(prefix + spec.name, piece.first, piece.count, spec.numel()), &trained, view,
                     whole ? spec.shape : std::vector<int64_t>{piece.count}});
    }
  }
  return out;
}

/// What this rank writes to `folder`, manifest not included.
std::vector<CheckpointFile> write_share(const std::string& folder, const CheckpointState& state, const model::TensorBlock& trained,
                                        ShardedStep& step, int64_t shard_bytes) {
  const int rank = step.ranks().rank(), size = step.ranks().size();
  std::vector<CheckpointFile> files;
  if (rank == 0) write_configs(folder, trained.config(), state.adapters, files);
  const TrainedNames names = trained_names(state.adapters);
  std::vector<StoredTensor> weights;
  append_tensors(trained, names.prefix, weights);
  const int64_t share = (trained.flat().numel() * dtype_bytes(trained.dtype()) + size - 1) / size;
  write_tensor_files(folder, names.stem, weights, std::min(share, shard_bytes), rank, size, files);
  const std::string stem = "optimizer.rank-" + std::to_string(rank) + "-of-" + std::to_string(size);
  const std::vector<StoredTensor> moments = moments_of(trained, step);
  std::vector<int64_t> sizes;
  for (const StoredTensor& tensor : moments) sizes.push_back(tensor.bytes());
  const std::vector<model::ShardRange> shards = model::divide_into_shards(sizes, shard_bytes);
  for (size_t i = 0; i < shards.size(); ++i) {
    files.push_back(write_tensors(folder, model::shard_name(stem, i, shards.size()), moments.data() + shards[i].begin,
                                  shards[i].end - shards[i].begin));
  }
  return files;
}

}  // namespace

void write_sharded_checkpoint(const std::string& directory, const CheckpointState& state, const model::TensorBlock& trained,
                              ShardedStep& step, int64_t shard_bytes) {
  dist::Communicator& ranks = step.ranks();
  std::optional<model::DurableFolder> folder;  // rank 0's
  std::vector<CheckpointFile> files;
  agree(ranks, "save", kept_failure([&] {
    if (ranks.rank() == 0) folder.emplace(directory);
  }));
  const std::string path = dist::gather_bytes(ranks, folder ? folder->path() : "").front();
  agree(ranks, "save", kept_failure([&] { files = write_share(path, state, trained, step, shard_bytes); }));
  files = files_of_all(ranks, files);
  agree(ranks, "save", kept_failure([&] {
    if (!folder) return;
    write_text(path, kManifest, manifest_text(state, step.optimizer().config().moments, files, kPieceFormat));
    folder->commit();
  }));
}

CheckpointState read_sharded_checkpoint(const std::string& directory, model::TensorBlock& trained, ShardedStep& step,
                                        const model::AdapterConfig& adapters) {
  CheckpointState state;
  ShardedOptimizer& optimizer = step.optimizer();
  agree(step.ranks(), "load", kept_failure([&] {
    const CheckpointReader reader(directory, trained, optimizer.config(), adapters);
    reader.fill(trained);
    for (const auto& [prefix, moment] : {std::pair{"m.", optimizer.m()}, {"v.", optimizer.v()}}) {
      for (const ShardPiece& piece : shard_pieces(trained.specs(), step.layout(), step.ranks().rank())) {
        reader.tensors().read(prefix + trained.specs()[piece.tensor].name, piece.first, piece.count,
                              moment.as<std::byte>() + piece.local * dtype_bytes(moment.dtype));
      }
    }
    optimizer.steps = reader.state().optimizer_steps;
    state = reader.state();
  }));
  return state;
}

}  // namespace hone::trainer
