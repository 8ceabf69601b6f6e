// One micro-batch through the network and back.
#pragma once

#include <cstdint>
#include <vector>

#include "core/arena.h"
#include "model/network.h"
#include "trainer/config.h"
#include "trainer/micro_batch.h"
#include "trainer/sequence_ranks.h"
#include "trainer/step.h"
#include "trainer/teacher_head.h"

namespace hone::trainer {

/// Per-sequence losses of a step in the order of its batch, and the first that is not finite.
struct StepLosses {
  explicit StepLosses(int64_t sequences) : loss(size_t(sequences)), policy(size_t(sequences)), router(size_t(sequences)) {}
  std::vector<double> loss, policy;  // [S] with and without the regularizers
  std::vector<double> router;        // [S] the router's terms, which `loss` includes
  int64_t first_bad = -1;            // the first that is not finite
};

/// Weights that a pass reads, and gradients to which it adds: one for each block of rows. ranks: those that share the
/// micro-batch, each of which makes the same calls and adds the gradients of its own block only; or null.
struct PassWeights {
  const model::WeightSnapshot& forward;
  const kernels::PackedMatrix& transposed_head;  // of the head of `forward`; packed once the pass has begun
  std::vector<model::Gradients> grads;
  SequenceRanks* ranks = nullptr;
  TeacherHead* teacher = nullptr;  // set if the step has a divergence
};

/// Owns the memory of one micro-batch at a time: its arrays, activations, and the head's and the backward's scratch.
class MicroBatchPass {
 public:
  /// Room is planned for packed_tokens; only a longer single sequence makes it grow.
  MicroBatchPass(const Stream& stream, const model::ModelConfig& config, const TrainerConfig& options);

  /// Reserves memory for this rank's tokens of a micro-batch. Throws kOutOfMemory; then nothing is reserved.
  void reserve(int64_t tokens);
  /// Inputs of a forward pass, as in PassWeights.
  struct Reads {
    const model::WeightSnapshot& weights;
    SequenceRanks* ranks = nullptr;
    const kernels::PackedMatrix* transposed_head = nullptr;  // set if dlogprob/dhidden is wanted
    model::RouteCounts* counts = nullptr;                    // of given routes that the router would not have chosen
  };
  /// Forward only: computes what `scores` requests. If a team shares the micro-batch, arrays [N, ...] get
  /// only this rank's own rows.
  void score(const TrainingBatch& batch, const MicroBatch& which, const Reads& reads, float temperature, const TokenScores& scores);
  /// Adds the micro-batch's gradients to those of `weights`, its losses to `losses`, its per-token results and times to
  /// `report`. The results are collected after the backward was queued, so that the host does not wait for a GPU before
  /// that; the CPU keeps the same order. After a loss that is not finite no more gradients are computed.
  void train(const TrainingBatch& batch, const MicroBatch& which, const StepOptions& options,
             const PassWeights& weights, StepLosses& losses, StepReport& report);

 private:
  model::Activations forward(const TrainingBatch& batch, const MicroBatch& which, const Reads& reads, int64_t blocks,
                             float temperature);
  /// Whether dLoss/dhidden is dlogprob/dhidden times a number a row, so that the forward can compute the latter.
  bool scales(const StepOptions& options) const {
    return !stream_.is_cuda() && options_.adapters.on() && options.entropy_coef == 0.0f && !options.divergence.on();
  }
  void backward(const TrainingBatch& batch, const model::Activations& saved, const kernels::Divergence& taught, const StepOptions& options, const PassWeights& weights, StepReport& report);
  /// Waits for the team's collectives; call before fetching results.
  void settle(SequenceRanks* ranks) const { ranks ? ranks->settle(stream_) : void(); }
  void collect(const MicroBatch& which, bool regularized, StepLosses& losses) const;
  void keep_tokens(const TrainingBatch& batch, const MicroBatch& which, StepReport& report) const;

  Stream stream_;
  model::ModelConfig config_;
  int64_t reserved_tokens_ = 0;
  TrainerConfig options_;
  Arena arena_;
  PackedBatch packed_;
  TensorView dhidden_;                 // [R, C] of the micro-batch in arena_: dlogprob/dhidden, then dLoss/dhidden
  std::vector<double> router_losses_;  // of the micro-batch's sequences, if the step has such terms
};

/// Bytes of a pass's arena for `tokens` tokens.
int64_t pass_arena_bytes(const Stream& stream, const model::ModelConfig& config, int64_t tokens, const TrainerConfig& options);

}  // namespace hone::trainer
