// What one trainer writes of a checkpoint's folder: tensors where they are, or copied so that they may change meanwhile.
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

/// All that goes into a folder, manifest included, but for the files of other ranks.
struct CheckpointDraft {
  model::ModelConfig model;
  CheckpointState state;
  DType moment_type = DType::kF32;
  int64_t format = kWholeFormat;
  bool writes = true;        // false: other ranks write everything
  int rank = 0, ranks = 1;   // of the weights' files every `ranks`-th, beginning with that of this rank, is its own
  int64_t weight_bytes = 0, moment_bytes = 0;  // of tensors in a file, at most
  std::string moment_stem = "optimizer";
  std::vector<StoredTensor> weights, moments;  // moments: this rank's alone
};

/// Writes <directory>.tmp-<process>, syncs it, and puts it at `directory` in one step (replacing a folder that is
/// there). Throws kIo with the system's reason; nothing is left behind then and an older folder is untouched.
void write_draft(const std::string& directory, const CheckpointDraft& draft);
/// The same by all ranks together, each its share: rank 0 makes the folder, and once all have written, its manifest.
/// Throws on every rank what write_draft throws, or kCollective naming the rank that failed.
void write_draft_together(const std::string& directory, const CheckpointDraft& draft, dist::Communicator& ranks);

/// A trainer's state at one moment, in host memory of its own, which is kept from one to the next.
class StagedCheckpoint {
 public:
  /// Copies this rank's tensors, over what was staged before. Throws kOutOfMemory.
  void stage(CheckpointDraft draft, ThreadPool* pool);
  /// Any thread, while none stages. ranks: null for a trainer that writes alone. Throws what write_draft throws.
  void write(const std::string& directory, dist::Communicator* ranks) const;
  int64_t bytes() const { return memory_.capacity(); }

 private:
  CheckpointDraft draft_;
  Arena memory_;
};

}  // namespace hone::trainer
