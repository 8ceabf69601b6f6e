// A trainer's part of a checkpoint folder: tensors in place, or copied so that training may continue.
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

/// The content of a folder, including the manifest, without the files of other ranks.
struct CheckpointDraft {
  model::ModelConfig model;
  CheckpointState state;
  DType moment_type = DType::kF32;
  int64_t format = kWholeFormat;
  bool writes = true;        // false: other ranks write everything
  int rank = 0, ranks = 1;   // this rank writes every `ranks`-th weights file, from number `rank` on
  int64_t weight_bytes = 0, moment_bytes = 0;  // limits of tensor bytes in one file
  std::string moment_stem = "optimizer";
  std::vector<StoredTensor> weights, moments;  // moments: only those of this rank
};

/// Writes <directory>.tmp-<process>, syncs it, and renames it to `directory` in one step (replacing an existing
/// folder). Throws kIo with the system's reason; nothing is left behind then and an older folder is untouched.
void write_draft(const std::string& directory, const CheckpointDraft& draft);
/// All ranks write a folder together, each its share: rank 0 creates it and, once all have written, its
/// manifest. Throws the errors of write_draft on every rank, or kCollective naming the rank that failed.
void write_draft_together(const std::string& directory, const CheckpointDraft& draft, dist::Communicator& ranks);

/// A copy of a trainer's state at one moment, in host memory that is reused by the next one.
class StagedCheckpoint {
 public:
  /// Copies this rank's tensors, over what was staged before. Throws kOutOfMemory.
  void stage(CheckpointDraft draft, ThreadPool* pool);
  /// Any thread, unless staging is in progress. ranks: null for a trainer that writes alone. Throws the errors of
  /// write_draft.
  void write(const std::string& directory, dist::Communicator* ranks) const;
  int64_t bytes() const { return memory_.capacity(); }

 private:
  CheckpointDraft draft_;
  Arena memory_;
};

}  // namespace hone::trainer
