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

std::string trained_prefix(const model::AdapterConfig& adapters) { return adapters.on() ? model::peft_name("") : ""; }

CheckpointDraft whole_draft(const CheckpointState& state, const model::TensorBlock& parameters, Optimizer& optimizer, int64_t shard_bytes) {
  CheckpointDraft draft;
  draft.model = parameters.config();
  draft.state = state;
  draft.moment_type = optimizer.config().moments;
  draft.weight_bytes = draft.moment_bytes = shard_bytes;
  append_tensors(parameters, trained_prefix(state.adapters), draft.weights);
  append_tensors(optimizer.m(), "m.", draft.moments);
  append_tensors(optimizer.v(), "v.", draft.moments);
  return draft;
}

void write_checkpoint(const std::string& directory, const CheckpointState& state, const model::TensorBlock& parameters,
                      Optimizer& optimizer, int64_t shard_bytes) {
  write_draft(directory, whole_draft(state, parameters, optimizer, shard_bytes));
}

void write_model(const std::string& where, const model::TensorBlock& parameters, int64_t shard_bytes) {
  model::DurableFolder folder(where);
  folder.write("config.json", model::to_hf_config(parameters.config()).dump());
  std::vector<CheckpointFile> files;
  std::vector<StoredTensor> weights;
  append_tensors(parameters, "", weights);
  write_tensor_files(folder.path(), "model", weights, shard_bytes, 0, 1, files);
  folder.commit();
}

CheckpointReader::CheckpointReader(const std::string& where, const model::TensorBlock& trained, const OptimizerConfig& optimizer,
                                   const model::AdapterConfig& adapters)
    : prefix_(trained_prefix(adapters)) {
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
