#include "trainer/checkpoint.h"

#include <filesystem>
#include <utility>
#include <vector>

#include "core/json.h"
#include "model/adapters_file.h"
#include "model/durable_file.h"

namespace hone::trainer {
namespace {

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

void check_kind(const std::string& path, const std::string& saved, OptimizerConfig::Kind kind) {
  if (saved == kind_name(kind)) return;
  fail(Code::kConfig, "%s: saved with optimizer \"%s\", the trainer has \"%s\". Reset the trainer's optimizer to that kind first.",
       path.c_str(), saved.c_str(), kind_name(kind));
}

void check_moments(const std::string& path, const std::string& saved, DType moments) {
  if (saved == dtype_name(moments)) return;
  fail(Code::kConfig, "%s: saved with moments in %s, the trainer keeps them in %s. Resume with the optimizer.moments that the run began with.",
       path.c_str(), saved.c_str(), dtype_name(moments));
}

std::string without_trailing_slash(std::string directory) {
  while (directory.size() > 1 && directory.back() == '/') directory.pop_back();
  return directory;
}

bool is_tensor_file(const std::string& name) { return std::filesystem::path(name).extension() == ".safetensors"; }

}  // namespace

CheckpointFile write_text(const std::string& folder, const std::string& name, const std::string& text) {
  model::DurableFile out(folder + "/" + name);
  out.write(text);
  return {name, out.commit(), int64_t(text.size())};
}

TrainedNames trained_names(const model::AdapterConfig& adapters) {
  if (!adapters.on()) return {"", "model"};
  return {model::peft_name(""), model::kAdapterStem};
}

void write_configs(const std::string& folder, const model::ModelConfig& model, const model::AdapterConfig& adapters,
                   std::vector<CheckpointFile>& files) {
  files.push_back(write_text(folder, "config.json", model::to_hf_config(model).dump()));
  if (!adapters.on()) return;
  files.push_back(write_text(folder, model::kAdapterConfig, model::adapter_json(model, adapters).dump()));
}

void write_checkpoint(const std::string& where, const CheckpointState& state, const model::TensorBlock& parameters,
                      Optimizer& optimizer, int64_t shard_bytes) {
  model::DurableFolder folder(where);
  std::vector<CheckpointFile> files;
  write_configs(folder.path(), parameters.config(), state.adapters, files);
  const TrainedNames names = trained_names(state.adapters);
  std::vector<StoredTensor> weights, moments;
  append_tensors(parameters, names.prefix, weights);
  append_tensors(optimizer.m(), "m.", moments);
  append_tensors(optimizer.v(), "v.", moments);
  write_tensor_files(folder.path(), names.stem, weights, shard_bytes, 0, 1, files);
  write_tensor_files(folder.path(), "optimizer", moments, shard_bytes, 0, 1, files);
  write_text(folder.path(), kManifest, manifest_text(state, optimizer.config().moments, files, kWholeFormat));
  folder.commit();
}

void write_model(const std::string& where, const model::TensorBlock& parameters, int64_t shard_bytes) {
  model::DurableFolder folder(where);
  std::vector<CheckpointFile> files;
  write_configs(folder.path(), parameters.config(), {}, files);
  std::vector<StoredTensor> weights;
  append_tensors(parameters, "", weights);
  write_tensor_files(folder.path(), "model", weights, shard_bytes, 0, 1, files);
  folder.commit();
}

CheckpointReader::CheckpointReader(const std::string& where, const model::TensorBlock& trained, const OptimizerConfig& optimizer,
                                   const model::AdapterConfig& adapters)
    : prefix_(trained_names(adapters).prefix) {
  const std::string directory = without_trailing_slash(where), path = directory + "/" + kManifest;
  CheckpointContents contents = read_manifest(directory);
  check_model(directory, trained.config());
  check_adapters(directory, trained.config(), adapters);
  check_kind(path, contents.optimizer, optimizer.kind);
  check_moments(path, contents.moments, optimizer.moments);
  for (const std::string& name : contents.files) {
    if (is_tensor_file(name)) tensors_.open(directory + "/" + name);
  }
  tensors_.check(trained.specs(), prefix_, trained.dtype());
  for (const char* moment : {"m.", "v."}) tensors_.check(trained.specs(), moment, optimizer.moments);
  state_ = std::move(contents.state);
  state_.optimizer_kind = optimizer.kind;
}

CheckpointState read_checkpoint(const std::string& directory, model::TensorBlock& parameters, Optimizer& optimizer,
                                const model::AdapterConfig& adapters) {
  const CheckpointReader reader(directory, parameters, optimizer.config(), adapters);
  reader.fill(parameters);
  reader.tensors().fill(optimizer.m(), "m.");
  reader.tensors().fill(optimizer.v(), "v.");
  optimizer.steps = reader.state().optimizer_steps;
  return reader.state();
}

}  // namespace hone::trainer
