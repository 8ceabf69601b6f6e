#include "trainer/checkpoint_tensors.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <utility>

#include "model/durable_file.h"
#include "model/shards.h"

namespace hone::trainer {
namespace {

using model::SafetensorsFile;

int64_t elements(const SafetensorsFile::Entry& entry) {
  return std::accumulate(entry.shape.begin(), entry.shape.end(), int64_t(1), std::multiplies<>());
}

struct PieceName {
  std::string tensor;
  int64_t first = 0;
  bool whole = true;
};

/// Parses a piece's name: "x[4096:8192]" is elements 4096 to 8191 of x, and the entry must have exactly that
/// many.
PieceName parsed(const SafetensorsFile::Entry& entry, const std::string& path) {
  const size_t bracket = entry.name.rfind('[');
  if (bracket == std::string::npos || entry.name.back() != ']') return {entry.name};
  long long first = -1, last = -1;
  int used = 0;
  const char* const range = entry.name.c_str() + bracket;
  const bool read = std::sscanf(range, "[%lld:%lld]%n", &first, &last, &used) == 2 && range[used] == '\0';
  if (!read || first < 0 || last - first != elements(entry)) {
    fail(Code::kFormat, "%s: \"%s\" has %lld elements, not those its name says.", path.c_str(),
         model::shown_name(entry.name).c_str(), (long long)elements(entry));
  }
  return {entry.name.substr(0, bracket), first, false};
}

}  // namespace

std::string piece_name(const std::string& tensor, int64_t first, int64_t count, int64_t n) {
  if (count == n) return tensor;
  return tensor + "[" + std::to_string(first) + ":" + std::to_string(first + count) + "]";
}

void append_tensors(const model::TensorBlock& block, const std::string& prefix, std::vector<StoredTensor>& out) {
  for (const model::TensorSpec& spec : block.specs()) out.push_back({prefix + spec.name, &block, block.view(spec), spec.shape});
}

CheckpointFile write_tensors(const std::string& folder, const std::string& name, const StoredTensor* tensors, size_t count) {
  int64_t staged = 0;
  for (size_t i = 0; i < count; ++i) staged += tensors[i].block ? tensors[i].block->staging_bytes(tensors[i].view) : 0;
  Arena staging(staged, "checkpoint shard");
  std::vector<SafetensorsFile::Entry> entries;
  for (size_t i = 0; i < count; ++i) {
    const StoredTensor& tensor = tensors[i];
    const TensorView host = tensor.block ? tensor.block->read(tensor.view, staging) : tensor.view;
    entries.push_back({tensor.name, host.dtype, tensor.shape, host.data, tensor.bytes()});
  }
  const std::string path = folder + "/" + name;
  const std::string hash = model::write_safetensors(path, entries, {{"format", "pt"}});
  return {name, hash, int64_t(std::filesystem::file_size(path))};
}

void write_tensor_files(const std::string& folder, const std::string& stem, const std::vector<StoredTensor>& tensors,
                        int64_t shard_bytes, int rank, int ranks, std::vector<CheckpointFile>& files) {
  std::vector<int64_t> sizes;
  for (const StoredTensor& tensor : tensors) sizes.push_back(tensor.bytes());
  const std::vector<model::ShardRange> shards = model::divide_into_shards(sizes, shard_bytes);
  std::vector<std::pair<std::string, std::string>> map;
  for (size_t i = 0; i < shards.size(); ++i) {
    const std::string name = model::shard_name(stem, i, shards.size());
    const size_t begin = shards[i].begin, end = shards[i].end;
    if (i % size_t(ranks) == size_t(rank)) files.push_back(write_tensors(folder, name, tensors.data() + begin, end - begin));
    for (size_t t = begin; t < end; ++t) map.emplace_back(tensors[t].name, name);
  }
  if (shards.size() == 1 || rank != 0) return;
  Json metadata = Json::object();
  metadata.set("total_size", Json::integer(std::accumulate(sizes.begin(), sizes.end(), int64_t(0))));
  const std::string name = stem + ".safetensors.index.json", text = model::shard_index(std::move(metadata), map);
  model::DurableFile out(folder + "/" + name);
  out.write(text);
  files.push_back({name, out.commit(), int64_t(text.size())});
}

void CheckpointTensors::open(const std::string& path) {
  files_.push_back(std::make_unique<SafetensorsFile>(path));
  for (const auto& entry : files_.back()->entries()) {
    const PieceName name = parsed(entry, path);
    if (pieces_[name.tensor].emplace(name.first, Piece{&entry, elements(entry), name.whole}).second) continue;
    fail(Code::kFormat, "%s: elements %lld and on of tensor \"%s\" are in another file, too.", path.c_str(),
         (long long)name.first, model::shown_name(name.tensor).c_str());
  }
}

void CheckpointTensors::check(const std::vector<model::TensorSpec>& specs, const std::string& prefix, DType dtype) const {
  for (const model::TensorSpec& spec : specs) {
    const std::string name = prefix + spec.name;
    const auto found = pieces_.find(name);
    if (found == pieces_.end()) fail(Code::kFormat, "checkpoint: tensor \"%s\" is missing.", name.c_str());
    int64_t end = 0;
    for (const auto& [first, piece] : found->second) {
      if (first != end) break;
      if ((piece.whole && piece.entry->shape != spec.shape) || piece.entry->dtype != dtype) {
        fail(Code::kFormat, "checkpoint: tensor \"%s\" has another shape or dtype than the model's.", name.c_str());
      }
      end += piece.count;
    }
    const auto& last = *found->second.rbegin();
    if (end == spec.numel() && last.first + last.second.count == end) continue;
    fail(Code::kFormat, "checkpoint: the pieces of tensor \"%s\" do not make up its %lld elements: they end, or overlap, at %lld.",
         name.c_str(), (long long)spec.numel(), (long long)end);
  }
}

void CheckpointTensors::read(const std::string& name, int64_t first, int64_t count, void* out) const {
  const auto& pieces = pieces_.at(name);
  const int64_t end = first + count;
  auto piece = std::prev(pieces.upper_bound(first));
  for (; piece != pieces.end() && piece->first < end; ++piece) {
    const auto& [begin, stored] = *piece;
    const int64_t from = std::max(first, begin), to = std::min(end, begin + stored.count);
    const int64_t size = dtype_bytes(stored.entry->dtype);
    std::memcpy(static_cast<std::byte*>(out) + (from - first) * size,
                static_cast<const std::byte*>(stored.entry->data) + (from - begin) * size, size_t((to - from) * size));
  }
}

void CheckpointTensors::fill(model::TensorBlock& tensors, const std::string& prefix) const {
  for (const model::TensorSpec& spec : tensors.specs()) {
    tensors.write(tensors.view(spec), [&](const TensorView& host) { read(prefix + spec.name, 0, spec.numel(), host.data); });
  }
}

}  // namespace hone::trainer
