#include "trainer/checkpoint_draft.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

#include "dist/gather_bytes.h"
#include "model/adapters_file.h"
#include "model/durable_file.h"
#include "model/shards.h"
#include "trainer/rank_agreement.h"

namespace hone::trainer {
namespace {

CheckpointFile write_text(const std::string& folder, const std::string& name, const std::string& text) {
  model::DurableFile out(folder + "/" + name);
  out.write(text);
  return {name, out.commit(), int64_t(text.size())};
}

std::vector<model::ShardRange> divided(const std::vector<StoredTensor>& tensors, int64_t most_bytes) {
  std::vector<int64_t> sizes;
  for (const StoredTensor& tensor : tensors) sizes.push_back(tensor.bytes());
  return model::divide_into_shards(sizes, most_bytes);
}

/// Writes files of pieces, which no index lists; the manifest names them.
void write_pieces(const std::string& folder, const CheckpointDraft& draft, std::vector<CheckpointFile>& files) {
  const std::vector<model::ShardRange> shards = divided(draft.moments, draft.moment_bytes);
  for (size_t i = 0; i < shards.size(); ++i) {
    files.push_back(write_tensors(folder, model::shard_name(draft.moment_stem, i, shards.size()),
                                  draft.moments.data() + shards[i].begin, shards[i].end - shards[i].begin));
  }
}

/// Writes this rank's files to `folder`, without the manifest.
std::vector<CheckpointFile> write_share(const std::string& folder, const CheckpointDraft& draft) {
  std::vector<CheckpointFile> files;
  if (!draft.writes) return files;
  const model::AdapterConfig& adapters = draft.state.adapters;
  if (draft.rank == 0) {
    files.push_back(write_text(folder, "config.json", model::to_hf_config(draft.model).dump()));
    if (adapters.on()) files.push_back(write_text(folder, model::kAdapterConfig, model::adapter_json(draft.model, adapters).dump()));
  }
  const std::string stem = adapters.on() ? model::kAdapterStem : "model";
  write_tensor_files(folder, stem, draft.weights, draft.weight_bytes, draft.rank, draft.ranks, files);
  if (draft.format == kPieceFormat) write_pieces(folder, draft, files);
  else write_tensor_files(folder, draft.moment_stem, draft.moments, draft.moment_bytes, 0, 1, files);
  return files;
}

void write_manifest(const std::string& folder, const CheckpointDraft& draft, const std::vector<CheckpointFile>& files) {
  write_text(folder, kManifest, manifest_text(draft.state, draft.moment_type, files, draft.format));
}

/// One line per file; file names contain no spaces.
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

/// The tensors that this rank writes.
std::vector<StoredTensor*> own_tensors(CheckpointDraft& draft) {
  std::vector<StoredTensor*> own;
  if (!draft.writes) return own;
  const std::vector<model::ShardRange> shards = divided(draft.weights, draft.weight_bytes);
  for (auto i = size_t(draft.rank); i < shards.size(); i += size_t(draft.ranks)) {
    for (size_t t = shards[i].begin; t < shards[i].end; ++t) own.push_back(&draft.weights[t]);
  }
  for (StoredTensor& moment : draft.moments) own.push_back(&moment);
  return own;
}

}  // namespace

void write_draft(const std::string& directory, const CheckpointDraft& draft) {
  model::DurableFolder folder(directory);
  write_manifest(folder.path(), draft, write_share(folder.path(), draft));
  folder.commit();
}

void write_draft_together(const std::string& directory, const CheckpointDraft& draft, dist::Communicator& ranks) {
  std::optional<model::DurableFolder> folder;  // set on rank 0 only
  std::vector<CheckpointFile> files;
  agree(ranks, "save", kept_failure([&] {
    if (ranks.rank() == 0) folder.emplace(directory);
  }));
  const std::string path = dist::gather_bytes(ranks, folder ? folder->path() : "").front();
  agree(ranks, "save", kept_failure([&] { files = write_share(path, draft); }));
  files = files_of_all(ranks, files);
  agree(ranks, "save", kept_failure([&] {
    if (!folder) return;
    write_manifest(path, draft, files);
    folder->commit();
  }));
}

void StagedCheckpoint::stage(CheckpointDraft draft, ThreadPool* pool) {
  const std::vector<StoredTensor*> own = own_tensors(draft);
  int64_t bytes = 0;
  for (const StoredTensor* tensor : own) bytes += Arena::rounded(tensor->bytes());
  if (memory_.capacity() < bytes) memory_ = Arena(), memory_ = Arena(bytes, "checkpoint on its way");
  memory_.release(0);
  for (StoredTensor* tensor : own) {
    void* const host = memory_.take(tensor->bytes());
    tensor->block->copy(tensor->view, host, pool);
    tensor->view.data = host;
  }
  // drops references to tensors that other ranks write, which are never read
  for (StoredTensor& tensor : draft.weights) tensor.block = nullptr;
  for (StoredTensor& tensor : draft.moments) tensor.block = nullptr;
  draft_ = std::move(draft);
}

void StagedCheckpoint::write(const std::string& directory, dist::Communicator* ranks) const {
  if (ranks) write_draft_together(directory, draft_, *ranks);
  else write_draft(directory, draft_);
}

}  // namespace hone::trainer
