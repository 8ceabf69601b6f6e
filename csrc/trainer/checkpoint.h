// Checkpoint folders: complete or absent, and verified before anything is read from them.
#pragma once

#include <cstdint>
#include <string>

#include "model/adapters.h"
#include "model/parameters.h"
#include "trainer/optimizer.h"

namespace hone::trainer {

/// Everything a folder holds besides the tensors.
struct CheckpointState {
  uint32_t version = 0;
  int64_t optimizer_steps = 0;
  OptimizerConfig::Kind optimizer_kind = OptimizerConfig::Kind::kAdamW;
  std::string extra;  // opaque to the trainer
  model::AdapterConfig adapters{};  // where on, the tensors are theirs
};

/// Writes <directory>.tmp-<process>, syncs it, and puts it at `directory` in one step (replacing a folder that is
/// there). Layout: config.json and model*.safetensors as transformers reads them, optimizer*.safetensors with
/// "m." and "v." before each name, manifest.json with size and sha256 of every file and of itself. With adapters
/// adapter_config.json and adapter_model*.safetensors as PEFT reads them take the place of model*.safetensors.
/// No file gets more than shard_bytes of tensors (a larger tensor has a file of its own).
/// Throws kIo with the system's reason; nothing is left behind then and an older folder is untouched.
void write_checkpoint(const std::string& directory, const CheckpointState& state, const model::TensorBlock& parameters,
                      Optimizer& optimizer, int64_t shard_bytes);

/// Verifies the manifest and every file first, then fills parameters and moments.
/// Throws kIo; kFormat naming the file that is missing, truncated or altered; kConfig if the folder is of another
/// model, optimizer or type of moments, or has adapters where the trainer has none, or others. Nothing is overwritten unless all of it can be.
CheckpointState read_checkpoint(const std::string& directory, model::TensorBlock& parameters, Optimizer& optimizer,
                                const model::AdapterConfig& adapters = {});

/// config.json and model*.safetensors alone: a model folder, complete or absent.
void write_model(const std::string& directory, const model::TensorBlock& parameters, int64_t shard_bytes);

inline constexpr int64_t kShardBytes = int64_t(4) << 30;

}  // namespace hone::trainer
