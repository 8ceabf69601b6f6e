// Computes how much memory a trainer will need.
#pragma once

#include <cstdint>

#include "model/config.h"
#include "trainer/config.h"

namespace hone::trainer {

/// Bytes on the trainer's device after its first step, besides its packed weights (model::snapshot_bytes).
struct TrainerBytes {
  int64_t parameters = 0;   // f32 weights, or the frozen base of adapters, f32 or bf16, of which a GPU holds none; with
                            // sharded weights those that the rank keeps and the buffers that gather a layer
                            // (on a GPU only the buffers: the weights are in host memory)
  int64_t trained = 0;      // f32 gradients of trained weights; with sharding also its shard
  int64_t moments = 0;      // both, unless they are on the host
  int64_t host_moments = 0; // both moments in page-locked memory; not in total() (arrays has their windows)
  int64_t first_packing = 0;  // while a GPU packs a frozen base, until the first step; not in total()
  int64_t adapters = 0;     // A and B, their packs, and the matrix being formed; 0 without adapters
  int64_t activations = 0;  // kept from the forward of a micro-batch for its backward
  int64_t scratch = 0;      // used while a layer runs, gradient of the hidden states included
  int64_t logits = 0;       // of one chunk of the head
  int64_t arrays = 0;       // the micro-batch's tokens and per-token results, gradient norms, and the optimizer's scratch
  int64_t total() const { return parameters + trained + moments + adapters + activations + scratch + logits + arrays; }
};
/// A rank and the number of ranks, for TrainerConfig::sharding.
struct OneOfRanks {
  int rank = 0, size = 1;
};
/// For micro-batches of packed_tokens tokens per rank that shares them (Sharding::sequence), in at most `sequences`
/// sequences. Needs no device. Trusts config. threads: size of a CPU trainer's thread pool. base: how the base of adapters
/// is stored on the CPU, which depends on its values (AdaptedWeights::base_changed).
TrainerBytes trainer_bytes(const model::ModelConfig& model, const TrainerConfig& config, int64_t sequences, int threads,
                           const OneOfRanks& which = {}, DType base = DType::kF32);

/// Throws kUnsupported for a hybrid model on a GPU, and for sharding that does not support the model.
void check_hybrid(const model::ModelConfig& model, const TrainerConfig& config);

}  // namespace hone::trainer
