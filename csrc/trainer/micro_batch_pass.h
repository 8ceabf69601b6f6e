// Runs the forward and the backward of one micro-batch.
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

/// Losses per sequence of a step, in the order of its batch, and the first sequence whose loss is not finite.
struct StepLosses {
  explicit StepLosses(int64_t sequences) : loss(size_t(sequences)), policy(size_t(sequences)), router(size_t(sequences)) {}
  std::vector<double> loss, policy;  // [S] with, and without, KL and entropy terms
  std::vector<double> router;        // [S] auxiliary loss of the router, which `loss` includes
  int64_t first_bad = -1;            // first sequence whose loss is not finite; -1: none
};

/// Weights that a pass reads, and for each row block the gradients to which it adds. ranks: the team that
/// shares the micro-batch, or null; each rank of a team makes the same calls and adds only the gradients of
/// its own block.
struct PassWeights {
  const model::WeightSnapshot& forward;
  kernels::PackedMatrix transposed_head;  // of the head of `forward`
  std::vector<model::Gradients> grads;
  SequenceRanks* ranks = nullptr;
  TeacherHead* teacher = nullptr;  // set if the step has a divergence
};

/// Owns the memory for one micro-batch at a time: its arrays, activations, and the scratch of the head and of
/// the backward.
class MicroBatchPass {
 public:
  /// Plans memory for packed_tokens tokens; only a single longer sequence makes it grow.
  MicroBatchPass(const Stream& stream, const model::ModelConfig& config, const TrainerConfig& options);

  /// Reserves memory for this rank's tokens of a micro-batch. Throws kOutOfMemory, having reserved nothing.
  void reserve(int64_t tokens);
  /// Inputs of a forward pass. ranks: the team that shares the micro-batch, or null.
  struct Reads {
    const model::WeightSnapshot& weights;
    SequenceRanks* ranks = nullptr;
    const kernels::PackedMatrix* transposed_head = nullptr;  // set if the pass shall compute dlogprob/dhidden
    model::RouteCounts* counts = nullptr;                    // counts the experts of given routes
  };
  /// Runs the forward and computes what `scores` has memory for; in a team only for this rank's rows.
  void score(const TrainingBatch& batch, const MicroBatch& which, const Reads& reads, float temperature, const TokenScores& scores);
  /// Runs forward and backward. Adds the micro-batch's gradients to those of `weights`, and its losses to
  /// `losses`; writes its per-token results to `report` and adds its times. Results are fetched only after
  /// the backward was queued, so that the host does not wait for a GPU in between; the CPU uses the same
  /// order. After a loss that is not finite no more gradients are computed.
  void train(const TrainingBatch& batch, const MicroBatch& which, const StepOptions& options,
             const PassWeights& weights, StepLosses& losses, StepReport& report);

 private:
  model::Activations forward(const TrainingBatch& batch, const MicroBatch& which, const Reads& reads, int64_t blocks,
                             float temperature);
  /// Whether dLoss/dhidden is dlogprob/dhidden times one factor per row, so that the forward can compute it.
  bool scales(const StepOptions& options) const {
    return !stream_.is_cuda() && options_.adapters.on() && options.entropy_coef == 0.0f && !options.divergence.on();
  }
  void backward(const TrainingBatch& batch, const model::Activations& saved, const kernels::Divergence& taught, const StepOptions& options, const PassWeights& weights);
  /// Waits for the team's collectives; must be called before results are fetched.
  void settle(SequenceRanks* ranks) const { ranks ? ranks->settle(stream_) : void(); }
  void collect(const MicroBatch& which, bool regularized, StepLosses& losses) const;
  void keep_tokens(const TrainingBatch& batch, const MicroBatch& which, StepReport& report) const;

  Stream stream_;
  model::ModelConfig config_;
  int64_t reserved_tokens_ = 0;
  TrainerConfig options_;
  Arena arena_;
  PackedBatch packed_;
  TensorView dhidden_;  // [R, C] in arena_: dlogprob/dhidden, later dLoss/dhidden
};

/// Bytes of a MicroBatchPass's arena for `tokens` tokens.
int64_t pass_arena_bytes(const Stream& stream, const model::ModelConfig& config, int64_t tokens, const TrainerConfig& options);

}  // namespace hone::trainer
