// Checkpoint folders that ranks write together, each its own files, and that any number of ranks can read.
#pragma once

#include <cstdint>
#include <string>

#include "dist/communicator.h"
#include "trainer/checkpoint.h"
#include "trainer/sharded_step.h"

namespace hone::trainer {

/// What this rank writes to a folder that all ranks write together; `extra` is taken from rank 0. The folder
/// has the layout of whole_draft, except that each model*.safetensors is written by one of the ranks, in
/// turn, and moments are in optimizer.rank-<i>-of-<P>*.safetensors, where a rank's elements 4096 to 8191 of a
/// tensor are called "m.<name>[4096:8192]".
CheckpointDraft share_draft(const CheckpointState& state, const model::TensorBlock& trained, ShardedStep& step, int64_t shard_bytes);

/// Reads a folder on every rank, whichever ranks wrote it: all weights, and the rank's own moments. Throws
/// the errors of CheckpointReader, or kCollective naming the rank that failed; other ranks may then have read
/// the folder already.
CheckpointState read_sharded_checkpoint(const std::string& directory, model::TensorBlock& trained, ShardedStep& step,
                                        const model::AdapterConfig& adapters);

}  // namespace hone::trainer
