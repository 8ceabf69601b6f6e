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

/// Prepares the content of a folder, and writes it with write_draft. Layout: config.json and model*.safetensors as
/// transformers reads them, optimizer*.safetensors with "m." and "v." before each name, manifest.json with size and
/// sha256 of every file and of itself. With adapters, adapter_config.json and adapter_model*.safetensors as PEFT reads
/// them replace model*.safetensors. No file gets more than shard_bytes of tensors (a larger tensor has its own file).
/// Throws kIo with the system's reason; nothing is left behind then and an older folder is untouched.
CheckpointDraft whole_draft(const CheckpointState& state, const model::TensorBlock& parameters, Optimizer& optimizer, int64_t shard_bytes);
void write_checkpoint(const std::string& directory, const CheckpointState& state, const model::TensorBlock& parameters,
                      Optimizer& optimizer, int64_t shard_bytes);

/// A verified folder that is complete and fits a trainer: parameters and moments can be read from it, regardless of how
/// many ranks wrote it.
class CheckpointReader {
 public:
  /// trained: the trained tensors, not written to. Throws kIo; kFormat naming a missing, truncated or altered
  /// file; kConfig if the folder is of another model, optimizer or type of moments, or has adapters but the
  /// trainer has none, or others.
  CheckpointReader(const std::string& directory, const model::TensorBlock& trained, const OptimizerConfig& optimizer,
                   const model::AdapterConfig& adapters);
  const CheckpointState& state() const { return state_; }
  /// Moments have "m." and "v." before the names of their tensors.
  const CheckpointTensors& tensors() const { return tensors_; }
  void fill(model::TensorBlock& trained) const { tensors_.fill(trained, prefix_); }

 private:
  CheckpointState state_;
  CheckpointTensors tensors_;
  std::string prefix_;  // of the names of trained tensors
};

/// Prefix of the names of trained tensors.
std::string trained_prefix(const model::AdapterConfig& adapters);

/// Verifies everything first, then fills parameters and moments. Throws the errors of CheckpointReader; overwrites
/// nothing unless all of it can be.
CheckpointState read_checkpoint(const std::string& directory, model::TensorBlock& parameters, Optimizer& optimizer,
                                const model::AdapterConfig& adapters = {});

/// config.json and model*.safetensors alone: a model folder, complete or absent.
void write_model(const std::string& directory, const model::TensorBlock& parameters, int64_t shard_bytes);

inline constexpr int64_t kShardBytes = int64_t(4) << 30;

}  // namespace hone::trainer
