// One packed micro-batch on its way through the network: its rows, its loss rows, its per-token results.
#pragma once

#include <cstdint>
#include <vector>

#include "model/network.h"
#include "trainer/packer.h"
#include "trainer/trainer.h"

namespace hone::trainer {

/// Throws kShape naming the argument and index unless the batch is consistent and usable for the model; with
/// `options`, also that what its objective needs is there (kConfig for option values).
void check_batch(const TrainingBatch& batch, const model::ModelConfig& model, const StepOptions* options);

/// Buffers keep their capacity from batch to batch, so a warm step allocates nothing here.
/// T tokens, S sequences, R loss rows: row r predicts token loss_token[r] from the hidden state before it.
struct PackedBatch {
  std::vector<int32_t> ids, positions, cu_seqlens;        // [T], [T], [S+1]
  std::vector<uint8_t> mask;                              // [T]
  std::vector<float> behavior, reference, token_advantages;  // [T], or empty
  std::vector<float> advantages;                          // [S], or empty
  std::vector<int32_t> group_sizes;                       // [S], or empty
  std::vector<int32_t> loss_token, loss_row, targets;     // [R] index into T; the one before; ids at loss_token
  std::vector<float> row_logprobs, row_entropies, row_lse, row_a, row_b;  // [R]
  std::vector<float> logprobs, entropies, a, b, ratios;   // [T], 0 where masked out
  std::vector<uint8_t> clipped;                           // [T]
  std::vector<double> sequence_losses;                    // [S]

  /// Copies the micro-batch's sequences together. Results are sized and zeroed.
  void gather(const TrainingBatch& batch, const MicroBatch& which);
  int64_t tokens() const { return int64_t(ids.size()); }
  int64_t loss_rows() const { return int64_t(targets.size()); }
  model::PackedRows rows() const;
};

/// values[t] of a packed array back to the batch's own order.
template <class T>
void scatter(const TrainingBatch& batch, const MicroBatch& which, const std::vector<T>& values, T* out) {
  size_t at = 0;
  for (int32_t i : which.sequences) {
    for (int32_t t = batch.cu_seqlens[i]; t < batch.cu_seqlens[i + 1]; ++t) out[t] = values[at++];
  }
}

}  // namespace hone::trainer
