// The head of a teacher, whose logits a step's divergence is made of.
#pragma once

#include <cstdint>

#include "core/arena.h"
#include "kernels/divergence.h"
#include "model/config.h"
#include "trainer/step.h"

namespace hone::trainer {

/// Owns the packed matrix, and the scratch that the divergence takes.
class TeacherHead {
 public:
  /// w: [rows, width]; softcap: what its logits are capped at, or 0. Throws kUnsupported on a GPU, kOutOfMemory: the head
  /// before is then gone.
  void set(const Stream& stream, const float* w, int64_t rows, int64_t width, float softcap);
  /// Nothing for a step without a divergence. Throws kUnsupported unless `is_alone`, without ranks; kConfig for a beta outside
  /// [0, 1]; kShape where the batch has nothing of a teacher, ids outside the student's `vocabulary`, or hidden states of another
  /// width than the head, or the head has fewer tokens.
  void check(const TrainingBatch& batch, const StepOptions& options, int64_t vocabulary, bool is_alone) const;
  /// For micro-batches of at most `rows` counted tokens; valid until the next call. Nothing for a step without one.
  kernels::Divergence of(const TrainingBatch& batch, const StepOptions& options, int64_t rows, int64_t vocabulary);

 private:
  Arena weights_, scratch_;
  int64_t reserved_ = 0;
  kernels::PackedMatrix head_{};
  float softcap_ = 0;
};

/// The batch with rows for what is said of its counted tokens. Throws what check_batch throws, kUnsupported unless `is_alone`,
/// kConfig for a temperature that is not positive, or k outside [1, V].
TrainingBatch check_teaching(const TrainingBatch& batch, const model::ModelConfig& config, float temperature, const TeacherScores& scores,
                             bool is_alone);

}  // namespace hone::trainer
