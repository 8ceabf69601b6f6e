#include "trainer/checkpoint.h"

#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "core/json.h"
#include "model/adapters_file.h"
#include "model/durable_file.h"
#include "model/safetensors.h"
#include "model/shards.h"

namespace hone::trainer {
namespace {

namespace fs = std::filesystem;
using model::SafetensorsFile;

/// A tensor to be stored under a name of its own.
struct Stored {
  std::string name;
  const model::TensorBlock* block;
  TensorView view;
  std::vector<int64_t> shape;
  int64_t bytes() const { return view.numel() * dtype_bytes(view.dtype); }
};
using Tensors = std::vector<Stored>;

constexpr int64_t kFormatVersion = 1;
constexpr const char* kManifest = "manifest.json";

const char* kind_name(OptimizerConfig::Kind kind) { return kind == OptimizerConfig::Kind::kMuon ? "muon" : "adamw"; }

struct FileRecord {
  std::string name, sha256;
  int64_t bytes = 0;
};

void append_tensors(const model::TensorBlock& block, const std::string& prefix, Tensors& out) {
  for (const model::TensorSpec& spec : block.specs()) out.push_back({prefix + spec.name, &block, block.view(spec), spec.shape});
}

/// Writes one shard. Tensors of a device are all copied to the host first: this takes host memory for a whole shard.
std::string write_shard(const std::string& path, const Tensors& shard) {
  int64_t staged = 0;
  for (const Stored& tensor : shard) staged += tensor.block->staging_bytes(tensor.view);
  Arena staging(staged, "checkpoint shard");
  std::vector<SafetensorsFile::Entry> entries;
  for (const Stored& tensor : shard) {
    const TensorView host = tensor.block->read(tensor.view, staging);
    entries.push_back({tensor.name, tensor.view.dtype, tensor.shape, host.data, tensor.bytes()});
  }
  return model::write_safetensors(path, entries, {{"format", "pt"}});
}

void write_text(const model::DurableFolder& folder, const std::string& name, const std::string& text,
                std::vector<FileRecord>& records) {
  records.push_back({name, folder.write(name, text), int64_t(text.size())});
}

/// <stem>.safetensors, or numbered shards with the index transformers looks for.
void write_shards(const model::DurableFolder& folder, const std::string& stem, const Tensors& tensors,
                  int64_t shard_bytes, std::vector<FileRecord>& records) {
  std::vector<int64_t> sizes;
  for (const Stored& tensor : tensors) sizes.push_back(tensor.bytes());
  const std::vector<model::ShardRange> shards = model::divide_into_shards(sizes, shard_bytes);
  std::vector<std::pair<std::string, std::string>> map;
  for (size_t i = 0; i < shards.size(); ++i) {
    const std::string name = model::shard_name(stem, i, shards.size());
    const Tensors part(tensors.begin() + int64_t(shards[i].begin), tensors.begin() + int64_t(shards[i].end));
    const std::string hash = write_shard(folder.file(name), part);
    records.push_back({name, hash, int64_t(fs::file_size(folder.file(name)))});
    for (const Stored& tensor : part) map.emplace_back(tensor.name, name);
  }
  if (shards.size() == 1) return;
  Json metadata = Json::object();
  metadata.set("total_size", Json::integer(std::accumulate(sizes.begin(), sizes.end(), int64_t(0))));
  write_text(folder, stem + ".safetensors.index.json", model::shard_index(std::move(metadata), map), records);
}

Json manifest_body(const CheckpointState& state, DType moments, const std::vector<FileRecord>& records) {
  Json body = Json::object(), optimizer = Json::object(), files = Json::array();
  optimizer.set("kind", Json::string(kind_name(state.optimizer_kind)));
  optimizer.set("moments", Json::string(dtype_name(moments)));
  optimizer.set("steps", Json::integer(state.optimizer_steps));
  for (const FileRecord& record : records) {
    Json file = Json::object();
    file.set("name", Json::string(record.name));
    file.set("bytes", Json::integer(record.bytes));
    file.set("sha256", Json::string(record.sha256));
    files.push(std::move(file));
  }
  body.set("format", Json::string("hone-checkpoint"));
  body.set("formatVersion", Json::integer(kFormatVersion));
  body.set("version", Json::integer(state.version));
  body.set("optimizer", std::move(optimizer));
  body.set("files", std::move(files));
  body.set("extra", Json::string(state.extra));
  return body;
}

const Json& member(const Json& json, const char* name, const std::string& where) {
  const Json* found = json.find(name);
  if (!found) fail(Code::kFormat, "%s: \"%s\" is missing.", where.c_str(), name);
  return *found;
}

/// Returns the manifest's body, once its own checksum has been verified.
Json read_manifest(const std::string& directory) {
  const std::string path = directory + "/" + kManifest;
  if (!model::exists(path)) {
    fail(Code::kFormat, "%s is missing: %s is not a checkpoint folder.", path.c_str(), directory.c_str());
  }
  const Json manifest = Json::parse(model::read_text(path), path.c_str());
  const std::string& stated = member(manifest, "sha256", path).as_string(path.c_str());
  Json body = member(manifest, "body", path);
  if (model::sha256_hex(body.dump()) != stated) fail(Code::kFormat, "%s was altered: its sha256 does not match.", path.c_str());
  const int64_t version = member(body, "formatVersion", path).as_int(path.c_str());
  if (version != kFormatVersion) {
    fail(Code::kUnsupported, "%s: formatVersion is %lld; this build reads %lld.", path.c_str(), (long long)version,
         (long long)kFormatVersion);
  }
  return body;
}

void verify_file(const std::string& directory, const Json& record) {
  const std::string where = directory + "/" + kManifest;
  const std::string path = directory + "/" + member(record, "name", where).as_string(where.c_str());
  if (!model::exists(path)) fail(Code::kFormat, "%s is missing from the checkpoint.", path.c_str());
  const int64_t wanted = member(record, "bytes", where).as_int(where.c_str());
  int64_t bytes = 0;
  const std::string hash = model::hash_file(path, bytes);
  if (bytes != wanted) {
    fail(Code::kFormat, "%s has %lld bytes, the manifest says %lld: truncated or overwritten.", path.c_str(),
         (long long)bytes, (long long)wanted);
  }
  if (hash != member(record, "sha256", where).as_string(where.c_str())) {
    fail(Code::kFormat, "%s was altered: its sha256 does not match the manifest.", path.c_str());
  }
}

/// All tensors of all shards by stored name.
class Shards {
 public:
  void open(const std::string& path) {
    files_.push_back(std::make_unique<SafetensorsFile>(path));
    for (const auto& entry : files_.back()->entries()) entries_[entry.name] = &entry;
  }
  /// Throws kFormat unless every tensor is there with the right shape and dtype.
  void check(const model::TensorBlock& tensors, const std::string& prefix) const {
    for (const model::TensorSpec& spec : tensors.specs()) {
      const auto found = entries_.find(prefix + spec.name);
      if (found == entries_.end()) fail(Code::kFormat, "checkpoint: tensor \"%s%s\" is missing.", prefix.c_str(), spec.name.c_str());
      if (found->second->shape != spec.shape || found->second->dtype != tensors.dtype()) {
        fail(Code::kFormat, "checkpoint: tensor \"%s%s\" has another shape or dtype than the model's.", prefix.c_str(),
             spec.name.c_str());
      }
    }
  }
  void fill(model::TensorBlock& tensors, const std::string& prefix) const {
    for (const model::TensorSpec& spec : tensors.specs()) {
      const SafetensorsFile::Entry& entry = *entries_.at(prefix + spec.name);
      tensors.write(tensors.view(spec), [&](const TensorView& host) {
        if (tensors.dtype() == DType::kF32) model::read_as_f32(entry, host);
        else std::memcpy(host.data, entry.data, size_t(host.numel() * dtype_bytes(host.dtype)));
      });
    }
  }

 private:
  std::vector<std::unique_ptr<SafetensorsFile>> files_;
  std::map<std::string, const SafetensorsFile::Entry*> entries_;
};

bool is_tensor_file(const std::string& name) { return fs::path(name).extension() == ".safetensors"; }

void check_model(const std::string& directory, const model::ModelConfig& config) {
  const std::string path = directory + "/config.json";
  if (model::read_text(path) == model::to_hf_config(config).dump()) return;
  fail(Code::kConfig, "%s describes another model than the trainer's. Create the trainer from that file.", path.c_str());
}

void check_adapters(const std::string& directory, const model::ModelConfig& config, const model::AdapterConfig& adapters) {
  const std::string path = directory + "/" + model::kAdapterConfig;
  const bool has = model::exists(path);
  if (has != adapters.on()) {
    fail(Code::kConfig, "%s has %s; the recipe %s. Resume with the recipe that the run began with.", directory.c_str(),
         has ? "adapters" : "all weights, no adapters", adapters.on() ? "trains adapters (lora)" : "has no lora");
  }
  if (!has || model::read_text(path) == model::adapter_json(config, adapters).dump()) return;
  fail(Code::kConfig, "%s is of other adapters than the recipe's lora: rank, alpha or targets differ.", path.c_str());
}

/// Earlier manifests name no type: it was f32.
void check_moments(const std::string& path, const Json& saved, DType moments) {
  const Json* found = saved.find("moments");
  const std::string name = found ? found->as_string(path.c_str()) : dtype_name(DType::kF32);
  if (name == dtype_name(moments)) return;
  fail(Code::kConfig, "%s: saved with moments in %s, the trainer keeps them in %s. Resume with the optimizer.moments that the run began with.",
       path.c_str(), name.c_str(), dtype_name(moments));
}

std::string without_trailing_slash(std::string directory) {
  while (directory.size() > 1 && directory.back() == '/') directory.pop_back();
  return directory;
}

}  // namespace

void write_checkpoint(const std::string& where, const CheckpointState& state, const model::TensorBlock& parameters,
                      Optimizer& optimizer, int64_t shard_bytes) {
  model::DurableFolder folder(where);
  std::vector<FileRecord> records;
  write_text(folder, "config.json", model::to_hf_config(parameters.config()).dump(), records);
  const bool adapted = state.adapters.on();
  if (adapted) {
    const std::string text = model::adapter_json(parameters.config(), state.adapters).dump();
    write_text(folder, model::kAdapterConfig, text, records);
  }
  Tensors weights, moments;
  append_tensors(parameters, adapted ? model::peft_name("") : "", weights);
  append_tensors(optimizer.m(), "m.", moments);
  append_tensors(optimizer.v(), "v.", moments);
  write_shards(folder, adapted ? model::kAdapterStem : "model", weights, shard_bytes, records);
  write_shards(folder, "optimizer", moments, shard_bytes, records);
  Json manifest = Json::object(), body = manifest_body(state, optimizer.config().moments, records);
  manifest.set("sha256", Json::string(model::sha256_hex(body.dump())));
  manifest.set("body", std::move(body));
  write_text(folder, kManifest, manifest.dump(), records);
  folder.commit();
}

void write_model(const std::string& where, const model::TensorBlock& parameters, int64_t shard_bytes) {
  model::DurableFolder folder(where);
  std::vector<FileRecord> records;
  write_text(folder, "config.json", model::to_hf_config(parameters.config()).dump(), records);
  Tensors weights;
  append_tensors(parameters, "", weights);
  write_shards(folder, "model", weights, shard_bytes, records);
  folder.commit();
}

CheckpointState read_checkpoint(const std::string& where, model::TensorBlock& parameters, Optimizer& optimizer,
                                const model::AdapterConfig& adapters) {
  const std::string directory = without_trailing_slash(where), path = directory + "/" + kManifest;
  const Json body = read_manifest(directory);
  const std::vector<Json>& files = member(body, "files", path).items(path.c_str());
  for (const Json& record : files) verify_file(directory, record);
  check_model(directory, parameters.config());
  check_adapters(directory, parameters.config(), adapters);
  CheckpointState state;
  const Json& saved = member(body, "optimizer", path);
  const std::string& kind = member(saved, "kind", path).as_string(path.c_str());
  state.optimizer_kind = optimizer.config().kind;
  if (kind != kind_name(state.optimizer_kind)) {
    fail(Code::kConfig, "%s: saved with optimizer \"%s\", the trainer has \"%s\". Reset the trainer's optimizer to that kind first.",
         path.c_str(), kind.c_str(), kind_name(state.optimizer_kind));
  }
  check_moments(path, saved, optimizer.config().moments);
  state.optimizer_steps = member(saved, "steps", path).as_int(path.c_str());
  state.version = uint32_t(member(body, "version", path).as_int(path.c_str()));
  state.extra = member(body, "extra", path).as_string(path.c_str());
  Shards shards;
  for (const Json& record : files) {
    const std::string& name = member(record, "name", path).as_string(path.c_str());
    if (is_tensor_file(name)) shards.open(directory + "/" + name);
  }
  const std::string prefix = adapters.on() ? model::peft_name("") : "";
  shards.check(parameters, prefix);
  shards.check(optimizer.m(), "m.");
  shards.check(optimizer.v(), "v.");
  shards.fill(parameters, prefix);
  shards.fill(optimizer.m(), "m.");
  shards.fill(optimizer.v(), "v.");
  optimizer.steps = state.optimizer_steps;
  return state;
}

}  // namespace hone::trainer
