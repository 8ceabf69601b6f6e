// What a trainer takes, before it is made.
#pragma once

#include <cstdint>

#include "model/config.h"
#include "trainer/config.h"

namespace hone::trainer {

/// Bytes where the trainer computes, once it has taken a step, beside its packed weights (model::snapshot_bytes).
struct TrainerBytes {
  int64_t parameters = 0;   // f32; gradients and each moment take as many
  int64_t transposed = 0;   // matrices turned round for the backward
  int64_t activations = 0;  // kept from the forward of a micro-batch for its backward
  int64_t layer = 0, layer_input = 0;  // of them, by each layer, and of that what enters it
  int64_t scratch = 0;      // while a layer runs, with the gradient of the hidden states
  int64_t logits = 0;       // of a chunk, in the head
  int64_t arrays = 0;       // the micro-batch's tokens and per-token results, gradient norms, and the optimizer's scratch
  int64_t total() const { return 4 * parameters + transposed + activations + scratch + logits + arrays; }
};
/// Of micro-batches of packed_tokens tokens in at most `sequences` sequences. Needs no device. Trusts config.
/// threads: of the pool that a CPU's trainer is given.
TrainerBytes trainer_bytes(const model::ModelConfig& model, const TrainerConfig& config, int64_t sequences, int threads);

}  // namespace hone::trainer
