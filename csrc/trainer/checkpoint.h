// Checkpoint folders: complete or absent, and verified before anything is read from them.
#pragma once

#include <cstdint>
#include <string>

#include "model/adapters.h"
#include "model/parameters.h"
#include "trainer/checkpoint_draft.h"
#include "trainer/checkpoint_manifest.h"
#include "trainer/checkpoint_tensors.h"
#include "trainer/optimizer.h"

namespace hone::trainer {

/// What goes into a folder, and write_draft of it. Layout: config.json and model*.safetensors as transformers reads them, optimizer*.safetensors with
/// "m." and "v." before each name, manifest.json with size and sha256 of every file and of itself. With adapters
/// adapter_config.json and adapter_model*.safetensors as PEFT reads them take the place of model*.safetensors.
/// No file gets more than shard_bytes of tensors (a larger tensor has a file of its own).
/// Throws kIo with the system's reason; nothing is left behind then and an older folder is untouched.
CheckpointDraft whole_draft(const CheckpointState& state, const model::TensorBlock& parameters, Optimizer& optimizer, int64_t shard_bytes);
void write_checkpoint(const std::string& directory, const CheckpointState& state, const model::TensorBlock& parameters,
                      Optimizer& optimizer, int64_t shard_bytes);

/// A folder that was verified, whole and file by file, and fits a trainer: parameters and moments can be read from it. It
/// does not matter how many ranks wrote it.
class CheckpointReader {
 public:
  /// trained: what the trainer trains; nothing is written to it. Throws kIo; kFormat naming the file that is missing,
  /// truncated or altered; kConfig if the folder is of another model, optimizer or type of moments, or has adapters
  /// where the trainer has none, or others.
  CheckpointReader(const std::string& directory, const model::TensorBlock& trained, const OptimizerConfig& optimizer,
                   const model::AdapterConfig& adapters);
  const CheckpointState& state() const { return state_; }
  /// Moments have "m." and "v." before the names of what they belong to.
  const CheckpointTensors& tensors() const { return tensors_; }
  void fill(model::TensorBlock& trained) const { tensors_.fill(trained, prefix_); }

 private:
  CheckpointState state_;
  CheckpointTensors tensors_;
  std::string prefix_;  // of what is trained
};

/// Before the names of what is trained.
std::string trained_prefix(const model::AdapterConfig& adapters);

/// Verifies everything first, then fills parameters and moments. Throws what CheckpointReader throws; nothing is
/// overwritten unless all of it can be.
CheckpointState read_checkpoint(const std::string& directory, model::TensorBlock& parameters, Optimizer& optimizer,
                                const model::AdapterConfig& adapters = {});

/// config.json and model*.safetensors alone: a model folder, complete or absent.
void write_model(const std::string& directory, const model::TensorBlock& parameters, int64_t shard_bytes);

inline constexpr int64_t kShardBytes = int64_t(4) << 30;

}  // namespace hone::trainer
