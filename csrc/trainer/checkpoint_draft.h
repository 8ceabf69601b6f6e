// What a trainer writes to a checkpoint folder: its tensors themselves, or copies of them so that training
// can continue meanwhile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/arena.h"
#include "core/thread_pool.h"
#include "dist/communicator.h"
#include "trainer/checkpoint_manifest.h"
#include "trainer/checkpoint_tensors.h"

namespace hone::trainer {

/// The content that this rank writes to a folder, and the manifest's fields.
struct CheckpointDraft {
  model::ModelConfig model;
  CheckpointState state;
  DType moment_type = DType::kF32;
  int64_t format = kWholeFormat;
  bool writes = true;        // false: other ranks write all files
  int rank = 0, ranks = 1;   // this rank writes weights files number rank, rank + ranks, ...
  int64_t weight_bytes = 0, moment_bytes = 0;  // limits of tensor bytes in one file
  std::string moment_stem = "optimizer";
  std::vector<StoredTensor> weights, moments;  // moments: only those of this rank
};

/// Writes <directory>.tmp-<process>, syncs it, and renames it to `directory` in one step, replacing any
/// existing folder. Throws kIo with the system's reason; nothing is left behind then and an older folder is
/// untouched.
void write_draft(const std::string& directory, const CheckpointDraft& draft);
/// All ranks write one folder together, each its own files: rank 0 creates the folder and, once all ranks
/// have written, writes the manifest. Throws the errors of write_draft on every rank, or kCollective naming
/// the rank that failed.
void write_draft_together(const std::string& directory, const CheckpointDraft& draft, dist::Communicator& ranks);

/// A copy of a trainer's state at one moment, in host memory that later copies reuse.
class StagedCheckpoint {
 public:
  /// Copies this rank's tensors and overwrites the previous copy. Throws kOutOfMemory.
  void stage(CheckpointDraft draft, ThreadPool* pool);
  /// Writes the copy as a checkpoint folder. May be called from any thread, except during stage(). ranks:
  /// null for a trainer that writes alone. Throws the errors of write_draft.
  void write(const std::string& directory, dist::Communicator* ranks) const;
  int64_t bytes() const { return memory_.capacity(); }

 private:
  CheckpointDraft draft_;
  Arena memory_;
};

}  // namespace hone::trainer
