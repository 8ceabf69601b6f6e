// The head of a teacher, whose logits a step's divergence is made of.
#pragma once

#include <cstdint>
#include <span>

#include "core/arena.h"
#include "core/device.h"
#include "kernels/divergence.h"
#include "model/config.h"
#include "model/row_blocks.h"
#include "trainer/step.h"

namespace hone::trainer {

/// Owns the matrix, what the teacher says of a micro-batch's rows, and the scratch that the divergence takes, in the stream's memory.
class TeacherHead {
 public:
  /// w: [rows, width] in the host's memory; softcap: what its logits are capped at, or 0. Throws kOutOfMemory: the head before is
  /// then gone; kShape for a width that is no multiple of 8 on a GPU, kUnsupported for a cap there.
  void set(const Stream& stream, const float* w, int64_t rows, int64_t width, float softcap);
  /// Nothing for a step without a divergence. Throws kConfig for a beta outside [0, 1]; kShape where the batch has nothing of a teacher, ids outside the student's `vocabulary`, or hidden states of another
  /// width than the head, or the head has fewer tokens.
  void check(const TrainingBatch& batch, const StepOptions& options, int64_t vocabulary) const;
  /// For rows of a micro-batch, by which of the batch's counted tokens each is. Valid until the next call, before which what
  /// reads it must be done.
  kernels::Divergence of(const Stream& stream, const TrainingBatch& batch, const StepOptions& options, std::span<const int32_t> rows,
                         int64_t vocabulary);

 private:
  void lay_rows(const Stream& stream, const TeacherTokens& said, std::span<const int32_t> rows, kernels::Divergence& divergence);

  Arena weights_, scratch_;
  SharedArrays said_;
  int64_t said_bytes_ = 0, scratch_bytes_ = 0;
  kernels::PackedMatrix head_{};
  float softcap_ = 0;
};

/// The same of some of the rows.
kernels::Divergence rows_of(kernels::Divergence all, const model::RowRange& some);

/// Of a forward pass at that temperature. Throws kConfig where that is not positive, or k is outside [0, V].
void check_scoring(float temperature, const TokenScores& scores, const model::ModelConfig& config);

}  // namespace hone::trainer
