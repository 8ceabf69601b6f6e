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

/// whole_draft describes the content of a folder; write_checkpoint also writes it. The folder has config.json
/// and model*.safetensors as transformers reads them, optimizer*.safetensors with "m." and "v." before each
/// name, and manifest.json with size and sha256 of every file and of itself. With adapters,
/// adapter_config.json and adapter_model*.safetensors as PEFT reads them replace model*.safetensors. No file
/// has more than shard_bytes of tensors (a larger tensor has its own file). write_checkpoint throws kIo with
/// the system's reason; nothing is left behind then and an older folder is untouched.
CheckpointDraft whole_draft(const CheckpointState& state, const model::TensorBlock& parameters, Optimizer& optimizer, int64_t shard_bytes);
void write_checkpoint(const std::string& directory, const CheckpointState& state, const model::TensorBlock& parameters,
                      Optimizer& optimizer, int64_t shard_bytes);

/// A checkpoint folder that was verified, is complete and fits a trainer. Parameters and moments can be read
/// from it regardless of how many ranks wrote it.
class CheckpointReader {
 public:
  /// trained: the trained tensors, which are not written to. Throws kIo; kFormat naming a missing, truncated
  /// or altered file; kConfig if the folder has another model, optimizer or dtype of moments, or if its
  /// adapters differ from the trainer's.
  CheckpointReader(const std::string& directory, const model::TensorBlock& trained, const OptimizerConfig& optimizer,
                   const model::AdapterConfig& adapters);
  const CheckpointState& state() const { return state_; }
  /// Tensors of the folder; names of moments have "m." or "v." before the name of their parameter.
  const CheckpointTensors& tensors() const { return tensors_; }
  void fill(model::TensorBlock& trained) const { tensors_.fill(trained, prefix_); }

 private:
  CheckpointState state_;
  CheckpointTensors tensors_;
  std::string prefix_;  // before the names of trained tensors
};

/// Prefix that files have before the names of trained tensors.
std::string trained_prefix(const model::AdapterConfig& adapters);

/// Verifies the whole folder, then overwrites parameters and moments; if verification fails, nothing is
/// overwritten. Throws the errors of CheckpointReader.
CheckpointState read_checkpoint(const std::string& directory, model::TensorBlock& parameters, Optimizer& optimizer,
                                const model::AdapterConfig& adapters = {});

/// Writes a model folder (config.json and model*.safetensors), which appears complete or not at all.
void write_model(const std::string& directory, const model::TensorBlock& parameters, int64_t shard_bytes);

inline constexpr int64_t kShardBytes = int64_t(4) << 30;

}  // namespace hone::trainer
