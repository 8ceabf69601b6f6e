// The manifest of a checkpoint folder: the trainer's state, and the sha256 of every file and of the manifest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"
#include "model/adapters.h"
#include "model/durable_file.h"
#include "trainer/config.h"

namespace hone::trainer {

/// The trainer's state in a folder, other than tensors.
struct CheckpointState {
  uint32_t version = 0;
  int64_t optimizer_steps = 0;
  OptimizerConfig::Kind optimizer_kind = OptimizerConfig::Kind::kAdamW;
  std::string extra;  // opaque to the trainer
  model::AdapterConfig adapters{};  // if on(), the folder's weights and moments are those of the adapters
};

struct CheckpointFile {
  std::string name, sha256;
  int64_t bytes = 0;
};

inline constexpr const char* kManifest = "manifest.json";

/// formatVersion of a folder: kWholeFormat has whole moment tensors; kPieceFormat has pieces of them, written
/// by several ranks.
inline constexpr int64_t kWholeFormat = 1, kPieceFormat = 2;

/// Text of manifest.json.
std::string manifest_text(const CheckpointState& state, DType moments, const std::vector<CheckpointFile>& files, int64_t format);

/// What a manifest says, after its own checksum and all files were verified.
struct CheckpointContents {
  CheckpointState state;
  std::string moments;             // name of their dtype
  std::string optimizer;           // name of its kind
  std::vector<std::string> files;
};
/// Reads and verifies manifest.json and all files. Throws kIo; kFormat naming the file that is missing,
/// truncated or altered; kUnsupported for a newer format.
CheckpointContents read_manifest(const std::string& directory);

const char* kind_name(OptimizerConfig::Kind kind);

}  // namespace hone::trainer
