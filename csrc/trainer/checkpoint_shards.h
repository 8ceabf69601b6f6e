// Checkpoint folders that ranks write together, each its share, and that any number of ranks can read.
#pragma once

#include <cstdint>
#include <string>

#include "dist/communicator.h"
#include "trainer/checkpoint.h"
#include "trainer/sharded_step.h"

namespace hone::trainer {

/// This rank's share of a folder that all ranks write together; `extra` is taken from rank 0. Layout: that of
/// whole_draft, except that model*.safetensors come from all ranks in turn, and moments are in
/// optimizer.rank-<i>-of-<P>*.safetensors, where a tensor of which a rank has elements 4096 to 8191 is called
/// "m.<name>[4096:8192]".
CheckpointDraft share_draft(const CheckpointState& state, const model::TensorBlock& trained, ShardedStep& step, int64_t shard_bytes);

/// Every rank reads its part of a folder, whichever rank wrote it: all weights, and its own moments. Throws the errors
/// of CheckpointReader, or kCollective naming the rank that failed: some ranks may then have read it.
CheckpointState read_sharded_checkpoint(const std::string& directory, model::TensorBlock& trained, ShardedStep& step,
                                        const model::AdapterConfig& adapters);

}  // namespace hone::trainer
