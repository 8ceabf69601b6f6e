// Computes how much memory a trainer will need.
#pragma once

#include <cstdint>

#include "model/config.h"
#include "trainer/config.h"

namespace hone::trainer {

/// Bytes on the trainer's device after its first step, besides its packed weights (model::snapshot_bytes).
struct TrainerBytes {
  // f32 weights, or the frozen base of adapters, of which a GPU holds none. With sharded weights: those that
  // the rank keeps, and the buffers that gather a layer (on a GPU only these: the weights are on the host)
  int64_t parameters = 0;
  // f32 gradients of trained weights, plus this rank's shard of them if they are sharded
  int64_t trained = 0;
  int64_t moments = 0;      // both moments, unless they are on the host
  // both moments in page-locked memory; not in total() (`arrays` includes their windows)
  int64_t host_moments = 0;
  // extra bytes while a GPU packs a frozen base, until the first step; not in total()
  int64_t first_packing = 0;
  // A and B, their packed copies, and the matrix W + s B A being computed; 0 without adapters
  int64_t adapters = 0;
  int64_t transposed = 0;   // the transposed head, for its backward
  int64_t activations = 0;  // stored by a micro-batch's forward for its backward
  int64_t scratch = 0;      // used while a layer runs, including the gradient of the hidden states
  int64_t logits = 0;       // logits of one chunk of the head's rows
  // the micro-batch's tokens and per-token results, gradient norms, and the optimizer's scratch
  int64_t arrays = 0;
  int64_t total() const { return parameters + trained + moments + adapters + transposed + activations + scratch + logits + arrays; }
};
/// A rank and the number of ranks, for TrainerConfig::sharding.
struct OneOfRanks {
  int rank = 0, size = 1;
};
/// Bytes of a trainer, for micro-batches of packed_tokens tokens (times Sharding::sequence) in at most
/// `sequences` sequences. Needs no device. Does not check config. threads: size of a CPU trainer's thread
/// pool.
TrainerBytes trainer_bytes(const model::ModelConfig& model, const TrainerConfig& config, int64_t sequences, int threads,
                           const OneOfRanks& which = {});

/// Throws kUnsupported for a hybrid model on a GPU, and for sharding that does not support the model.
void check_hybrid(const model::ModelConfig& model, const TrainerConfig& config);

}  // namespace hone::trainer
